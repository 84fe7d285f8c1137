// Sphinx's own points for a hit, and more for a lesson or the glossary, because readers look for
// where something is explained rather than for guides and functions that mention it. TERMS, which
// the site's maker writes above, has the lessons that explain a term of the glossary.
const ASKED = (new URLSearchParams(location.search).get("q") || "").toLowerCase().trim();
const EXPLAINED = new Set(
  Object.entries(TERMS).flatMap(([term, pages]) => term.includes(ASKED) && ASKED ? pages : [])
);
var Scorer = {
  score: ([page, title, anchor, description, points]) =>
    points + (/^notebooks\/\d/.test(page) ? 20 : /^notebooks\//.test(page) ? 10 : 0)
      + (EXPLAINED.has(page) ? 20 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

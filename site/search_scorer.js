// Sphinx's own points for a hit, and more for a lesson or the glossary, because readers look for
// where something is explained rather than for guides and functions that mention it.
var Scorer = {
  score: ([page, title, anchor, description, points]) =>
    points + (/^notebooks\/\d/.test(page) ? 20 : /^notebooks\//.test(page) ? 10 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

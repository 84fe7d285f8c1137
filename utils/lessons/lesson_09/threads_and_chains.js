(function () {
  var data = DATA;
  // The same output can be twice in a page, so the script takes the first one that is not alive yet.
  var root = Array.from(document.querySelectorAll('.threads-and-chains')).find(r => !r.dataset.alive);
  if (!root) return;
  root.dataset.alive = 'yes';
  var find = name => root.querySelector(name), all = name => root.querySelectorAll(name);
  var sliders = { threads: find('input.threads'), chains: find('input.chains') };
  function show() {
    for (var what in sliders) {
      var words = data.words[what][sliders[what].value];
      find('output.' + what).textContent = words;
      sliders[what].setAttribute('aria-valuetext', words);
    }
    var chains = data.chains[sliders.chains.value], threads = data.threads[sliders.threads.value];
    var point = data.points[threads + ' ' + chains], lines = data.lines[chains];
    find('path.law').setAttribute('d', lines.law);
    find('path.recorded').setAttribute('d', lines.recorded);
    find('circle.point').setAttribute('cx', point.at[0]);
    find('circle.point').setAttribute('cy', point.at[1]);
    find('text.under-way').textContent = point.titles[0];
    find('text.shares').textContent = point.titles[1];
    find('circle.point').closest('svg').setAttribute('aria-label', point.titles.join(': '));
    all('text.needs').forEach((row, at) => { row.textContent = point.needs[at]; });
    all('rect.warp').forEach((box, at) => visible(box, at, point));
    all('text.of-warp').forEach((box, at) => { visible(box, at, point); box.textContent = chains; });
  }
  function visible(box, at, point) {
    var shown = at % data.most < point.warps[Math.floor(at / data.most)];
    box.setAttribute('visibility', shown ? 'visible' : 'hidden');
  }
  sliders.threads.oninput = show;
  sliders.chains.oninput = show;
})()

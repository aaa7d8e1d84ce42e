// Controls, keys and the mouse.

const byId = id => document.getElementById(id);
const view = new View(byId('graph'), byId('scroller'), byId('space'));
const details = new Details(byId('tip'), byId('details'));

function showHeader() {
  document.title = data.title + ' \u2013 flame graph';
  byId('title').textContent = byId('title').title = data.title;
  const short = [];
  for (const [name, value] of data.facts) {
    byId('facts').append(element('dt', name), element('dd', value));
    if (['span', 'calls', 'losses', 'filter'].includes(name)) short.push([name, value]);
  }
  short.forEach(([name, value], index) => {
    if (index > 0) byId('summary').append(' \u00b7 ');
    byId('summary').append(element('span', `${name} ${value}`, name === 'losses' ? 'loss' : ''));
  });
  data.trees.forEach((tree, index) => byId('tree').append(new Option(tree.title, String(index))));
  byId('tree').disabled = data.trees.length < 2;
}

function showPath() {
  const path = view.tree.pathOf(view.zoomed);
  const nav = byId('path');
  nav.replaceChildren();
  nav.hidden = path.length < 2;
  const crumb = node => {
    const button = element('button', view.tree.nameOf(node));
    button.type = 'button';
    button.title = view.tree.nameOf(node);
    button.addEventListener('click', () => zoom(node));
    return button;
  };
  path.forEach((node, index) => {
    const skipped = path.length > 9 && index >= 2 && index < path.length - 5;
    if (skipped && index === 2) nav.append(element('span', `\u203a ${path.length - 7} more `));
    if (skipped) return;
    if (index > 0) nav.append(element('span', '\u203a'));
    nav.append(crumb(node));
  });
  byId('reset').disabled = view.zoomed === 0;
}

function zoom(node) {
  view.zoom(node);
  showPath();
  search();
  details.hideTip();
  details.showFoot(view, view.selected >= 0 ? view.selected : node === 0 ? -1 : node);
}

function select(node) {
  view.selected = node;
  if (node >= 0) view.reveal(node);
  view.redraw();
  details.showFoot(view, node);
}

function search() {
  const input = byId('search');
  const shown = byId('matched');
  input.setAttribute('aria-invalid', 'false');
  if (input.value === '') {
    view.search(null);
    shown.textContent = '';
    return;
  }
  let pattern;
  try {
    pattern = new RegExp(input.value, /[A-Z]/.test(input.value) ? 'u' : 'iu');  // a capital asks for exact case
  } catch (error) {
    input.setAttribute('aria-invalid', 'true');
    shown.textContent = 'not a regular expression';
    view.search(null);
    return;
  }
  const found = view.search(Uint8Array.from(data.functions, info => pattern.test(info[0]) ? 1 : 0));
  shown.textContent = found.nodes === 0 ? 'no match' : `${found.share} matched`;
}

function nextMatch(step) {
  const {tree, matches} = view;
  if (matches === null) return;
  const first = view.zoomed;
  const count = tree.end[first] - first;
  let at = view.selected >= first ? view.selected : first;
  for (let tried = 0; tried < count; tried++) {
    at = first + ((at - first + step) % count + count) % count;
    if (at !== 0 && matches[tree.fn[at]] === 1 && view.width[at] > 0) return select(at);
  }
}

function flip() {
  view.callersOnTop = !view.callersOnTop;
  showFlip();
  view.reveal(view.zoomed);
}
const showFlip = () => { byId('flip').textContent = view.callersOnTop ? 'Callers on top' : 'Callers at the bottom'; };

// Siblings lie side by side: the next one begins where the subtree ends.
function neighbour(node, step) {
  const {tree} = view;
  const parent = tree.parent[node];
  if (parent < 0) return node;
  if (step > 0) {
    const next = tree.end[node];
    return next < tree.end[parent] && view.width[next] > 0 ? next : node;
  }
  let at = parent + 1;
  while (at < node && tree.end[at] < node) at = tree.end[at];
  return at < node ? at : node;
}

function move(key) {
  const {tree} = view;
  if (view.selected < 0) return select(view.zoomed);
  const node = view.selected;
  const toCallee = (key === 'ArrowDown') === view.callersOnTop;
  if (key === 'ArrowLeft' || key === 'ArrowRight') return select(neighbour(node, key === 'ArrowRight' ? 1 : -1));
  if (!toCallee) return select(Math.max(0, tree.parent[node]));
  if (tree.end[node] > node + 1) select(node + 1);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const inField = /^(INPUT|SELECT)$/.test(event.target.tagName);
  if (event.key === 'Escape') {
    if (byId('search').value !== '') {
      byId('search').value = '';
      search();
    } else {
      select(-1);
    }
    view.canvas.focus({preventScroll: true});
    return;
  }
  if (inField) {
    if (event.key === 'Enter' && event.target.id === 'search') nextMatch(event.shiftKey ? -1 : 1);
    return;
  }
  const onButton = event.target.tagName === 'BUTTON';
  if (event.key.startsWith('Arrow')) move(event.key);
  else if (event.key === 'Enter' && !onButton) { if (view.selected >= 0) zoom(view.selected); }
  else if (event.key === 'Backspace') zoom(Math.max(0, view.tree.parent[view.zoomed]));
  else if (event.key === 'Home' || event.key === '0') zoom(0);
  else if (event.key === '/') byId('search').focus();
  else if (event.key === 'n' || event.key === 'N') nextMatch(event.key === 'n' ? 1 : -1);
  else if (event.key === 'i') flip();
  else if (event.key === '?') toggle('help', 'keys');
  else return;
  event.preventDefault();
}

function toggle(button, panel) {
  byId(panel).hidden = !byId(panel).hidden;
  byId(button).setAttribute('aria-expanded', String(!byId(panel).hidden));
  view.resize();
}

function showTree(index) {
  view.show(treeAt(index));
  showPath();
  search();
  details.hideTip();
  details.showFoot(view, -1);
}

function listen() {
  const {canvas} = view;
  canvas.addEventListener('mousemove', event => {
    const node = view.nodeAt(event.clientX, event.clientY);
    details.showTip(view, node, event.clientX, event.clientY);
    if (node !== view.hovered) {
      view.hovered = node;
      view.redraw();
    }
  });
  canvas.addEventListener('mouseleave', () => {
    view.hovered = -1;
    details.hideTip();
    view.redraw();
  });
  canvas.addEventListener('click', event => {
    const node = view.nodeAt(event.clientX, event.clientY);
    if (node < 0) return;
    view.selected = node;
    zoom(node);
  });
  byId('scroller').addEventListener('scroll', () => {
    details.hideTip();
    view.redraw();
  });
  byId('tree').addEventListener('change', event => showTree(Number(event.target.value)));
  const [byValue, byCount] = byId('measure').options;
  byValue.textContent = measured;
  byCount.textContent = counted;
  byId('colour').querySelector('[value=self]').textContent = `self ${measured}`;
  byId('measure').addEventListener('change', event => {
    view.measure = event.target.value;
    view.layOut();
    view.jump();
    search();
  });
  byId('colour').addEventListener('change', event => {
    view.colourBy = event.target.value;
    view.redraw();
  });
  byId('flip').addEventListener('click', flip);
  byId('reset').addEventListener('click', () => zoom(0));
  byId('more').addEventListener('click', () => toggle('more', 'facts'));
  byId('help').addEventListener('click', () => toggle('help', 'keys'));
  byId('search').addEventListener('input', search);
  addEventListener('keydown', onKey);
  new ResizeObserver(() => view.resize()).observe(byId('scroller'));
  darkQuery.addEventListener('change', () => {
    colours.forget();
    view.redraw();
  });
}

showHeader();
showFlip();
listen();
showTree(0);

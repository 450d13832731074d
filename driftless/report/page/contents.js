// Finding one's way: sections, studies that fold, the list of contents and the filter.

const modelName = (file) => file.replace(/^.*\//, "").replace(/\.safetensors$/, "");

/// Called with {model, study} whenever the filter changes; "" is all.
const onFilter = [];

function addSection(title) {
  const id = `section-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  const section = make("section", {id, "aria-labelledby": `${id}-title`}, make("h2", {id: `${id}-title`}, title));
  document.getElementById("main").append(section);
  document.querySelector("#contents ul").append(make("li", {}, make("a", {href: `#${id}`}, title), make("ul", {})));
  return section;
}

/// An entry below its section's in the contents.
function addEntry(section, href, title) {
  const entry = make("li", {}, make("a", {href}, title));
  document.querySelector(`#contents a[href="#${section.id}"] + ul`).append(entry);
  return entry;
}

/// What a study is about in one line: its ends, as its panel has them.
function findingOf(panel) {
  const most = (values, key) => values.reduce((best, next) => (key(next) > key(best) ? next : best));
  const says = (label, value) => `${label} ${unitText(panel, value)}`;
  const finders = {
    lines() {
      const ends = panel.series.map(({label, points}) => ({label, y: points.findLast(({y}) => isFinite(y))?.y})).filter(({y}) => isFinite(y));
      if (ends.length === 0) return "";
      const [high, low] = [most(ends, ({y}) => y), most(ends, ({y}) => -y)];
      return `${panel.title} at the end: ${low === high ? says(high.label, high.y) : `from ${says(high.label, high.y)} down to ${says(low.label, low.y)}`}`;
    },
    dots() {
      const rows = panel.rows.filter(({value}) => isFinite(value));
      if (rows.length === 0) return "";
      const name = ({label, series}) => [label, series].filter(Boolean).join(", ");
      const [high, low] = [most(rows, ({value}) => value), most(rows, ({value}) => -value)];
      if (rows.length > 1 && low.value === high.value) return `all at ${unitText(panel, high.value)}`;
      return low === high ? says(name(high), high.value) : `from ${says(name(high), high.value)} down to ${says(name(low), low.value)}`;
    },
    heat() {
      const cells = panel.rows.flatMap((label, i) => panel.values[i].filter(isFinite).map((value) => ({label, value})));
      if (cells.length === 0) return "";
      const peak = most(cells, ({value}) => Math.abs(value));
      return `${panel.title}: at most ${numberText(peak.value)}, in ${layerText(peak.label)}`;
    },
    plane: () => `${panel.series.length} schemes around the float model's last state`,
  };
  return finders[panel.kind]();
}

/// A study: closed, with its title and one line; its figures are drawn when it opens.
function makeStudy(title, elements) {
  const finding = make("span", {class: "finding"});
  const details = make("details", {class: "study", "aria-label": title}, make("summary", {}, make("h3", {}, title), finding), ...elements);
  const tell = () => {
    const shown = elements.filter((element) => !element.hidden);
    const [first] = shown;
    finding.textContent = first ? [shown.length > 1 || elements.length > 1 ? `${first.dataset.model}: ` : "", first.finding].join("") : "";
    details.hidden = shown.length === 0;
  };
  tell();
  onFilter.push(({model, study}) => {
    for (const element of elements)
      element.hidden = (model !== "" && element.dataset.model !== model) || (study !== "" && element.dataset.study !== study);
    tell();
  });
  return details;
}

/// Every fold on the way to an element, opened.
function reveal(element) {
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
}

function openAll() {
  document.querySelectorAll("details.study, details.claim").forEach((fold) => { fold.open = true; });
  document.querySelectorAll("figure").forEach((figure) => figure.draw?.());
}

function closeAll() {
  document.querySelectorAll("details.study, details.claim").forEach((fold) => { fold.open = false; });
}

function pickerOf(name, values) {
  const picker = make("select", {"aria-label": `Show one ${name}`}, make("option", {value: ""}, `every ${name}`), ...values.map((value) => make("option", {value}, value)));
  picker.hidden = values.length < 2;
  return picker;
}

/// The list's head: pickers and the button that opens every study.
function addFilter() {
  const rows = [...page.records, ...page.qat.map((run) => ({...run, study: "qat"})), ...page.traces];
  const models = [...new Set(rows.map(({checkpoint}) => modelName(checkpoint.file)))].sort();
  const studies = [...new Set(rows.map(({study}) => study).filter(Boolean))].sort();
  const [model, study] = [pickerOf("model", models), pickerOf("study", studies)];
  const apply = () => {
    for (const listener of onFilter) listener({model: model.value, study: study.value});
    for (const section of document.querySelectorAll("main > section")) {
      const parts = [...section.querySelectorAll(":scope > .study")];
      if (parts.length > 0) section.hidden = parts.every((part) => part.hidden);
    }
    if (study.value !== "") document.querySelectorAll("details.study:not([hidden])").forEach((fold) => { fold.open = true; });
  };
  for (const picker of [model, study]) picker.addEventListener("change", apply);
  const all = make("button", {type: "button", id: "open-all"}, "Open all");
  all.addEventListener("click", () => {
    const isOpening = all.textContent === "Open all";
    if (isOpening) openAll();
    else closeAll();
    all.textContent = isOpening ? "Close all" : "Open all";
  });
  document.querySelector("#contents .filter").append(model, study, all);
}

/// Links, and the address itself, open what they lead to. A wide page has its contents open.
function addRevealing() {
  const follow = () => reveal(document.getElementById(decodeURIComponent(location.hash.slice(1))));
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const href = event.target.closest?.('a[href^="#"]')?.getAttribute("href");
    if (href) reveal(document.getElementById(href.slice(1)));
  });
  follow();
  addEventListener("beforeprint", openAll);
  const contents = document.querySelector("#contents details");
  const isWide = matchMedia("(min-width: 64rem)");
  const fit = () => { contents.open = isWide.matches; };
  isWide.addEventListener("change", fit);
  contents.addEventListener("click", (event) => { if (event.target.closest("a") && !isWide.matches) contents.open = false; });
  fit();
}

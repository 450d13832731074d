// The numbers behind a figure, from the same panels that its marks are drawn from: a table with
// rounded numbers and a CSV file with those of the records.

/// {raw, text}: what the file says and what the table shows.
function cellOf(value, panel = {}) {
  if (typeof value === "object" && value !== null) return value;
  if (typeof value === "number") return {raw: value, text: unitText(panel, value)};
  return {raw: value ?? "", text: value === null || value === undefined ? "no value" : String(value)};
}

const tableMakers = {
  lines(panel) {
    const heads = ["measure", "scheme", panel.x, "value", "low", "high"];
    const rows = panel.series.flatMap((series) => series.points.map((p) => [
      cellOf(panel.title), cellOf(series.label), cellOf(p.x), ...[p.y, p.low, p.high].map((v) => cellOf(v, panel))]));
    return {heads, rows};
  },
  dots(panel) {
    const extras = Object.keys(panel.rows[0]?.extra ?? {});
    const hasSeries = panel.rows.some((row) => row.series);
    const ends = panel.rows.some((row) => isFinite(row.low)) ? ["low", "high"] : [];
    const heads = ["measure", "scheme", ...(hasSeries ? ["series"] : []), "value", ...ends, ...extras];
    const rows = panel.rows.map((row) => [
      cellOf(panel.title), cellOf(row.label), ...(hasSeries ? [cellOf(row.series)] : []), cellOf(row.value, panel),
      ...ends.map((end) => cellOf(row[end], panel)), ...extras.map((name) => cellOf(row.extra[name]))]);
    return {heads, rows};
  },
  plane(panel) {
    const rows = panel.series.flatMap((series) => series.points.map((p) =>
      [cellOf(panel.title), cellOf(series.label), ...[p.step, p.x, p.y, p.residual].map((v) => cellOf(v))]));
    return {heads: ["measure", "scheme", "step", "first direction", "second direction", "residual"], rows};
  },
  heat(panel) {
    const rows = panel.rows.flatMap((row, r) => panel.columns.map((column, c) =>
      [cellOf(panel.title), cellOf(row), cellOf(column), cellOf(panel.values[r][c])]));
    return {heads: ["scheme", "layer", "call", "value"], rows};
  },
};

/// Panels of one figure are of one kind and have the same heads.
function tableOf(panels) {
  const tables = panels.map((panel) => tableMakers[panel.kind](panel));
  return {heads: tables[0].heads, rows: tables.flatMap((table) => table.rows)};
}

function csvOf({heads, rows}) {
  const field = (value) => (/[",\n\r]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [heads, ...rows.map((row) => row.map((cell) => cell.raw))].map((line) => line.map(field).join(",") + "\n").join("");
}

function htmlTable({heads, rows}, name) {
  const body = rows.map((row) => make("tr", {}, ...row.map((cell) =>
    make("td", typeof cell.raw === "number" ? {class: "number"} : {}, cell.text))));
  return make("table", {"aria-label": name},
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {scope: "col"}, head)))),
    make("tbody", {}, ...body));
}

function download(name, blob) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
}

/// Opens on a click; the table is built then.
function numbersOf(id, title, panels) {
  const details = make("details", {"aria-label": `Numbers of ${title}`}, make("summary", {}, "The numbers as a table and CSV"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const table = tableOf(panels);
    const save = make("button", {type: "button"}, "Save as CSV");
    save.addEventListener("click", () => download(`${id}.csv`, new Blob([csvOf(table)], {type: "text/csv"})));
    const scroll = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers of ${title}`});
    scroll.append(htmlTable(table, `Numbers of ${title}`));
    details.append(save, scroll);
  });
  return details;
}

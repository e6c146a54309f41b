// Sorts tables by the heading that is clicked, filters their rows by the text typed, and unfolds all
// sections by one button. The rest of the page works without this script.
(() => {
  "use strict";
  const folds = [...document.querySelectorAll("details.fold")];
  const open = (all) => folds.forEach((fold) => { fold.open = all; });
  if (folds.length) {
    const button = document.createElement("button");
    const named = () => {
      button.textContent = folds.every((fold) => fold.open) ? "Fold all" : "Unfold all";
    };
    button.type = "button";
    button.className = "unfold";
    button.addEventListener("click", () => open(!folds.every((fold) => fold.open)));
    folds.forEach((fold) => fold.addEventListener("toggle", named));
    folds[0].parentElement.before(button);
    named();
  }
  addEventListener("beforeprint", () => open(true));
  const value = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    const number = Number(text.replace(/,/g, ""));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => {
    const words = typeof a === "string", others = typeof b === "string";
    if (words !== others) return words ? 1 : -1;
    return words ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  };
  for (const table of document.querySelectorAll("table.sorted")) {
    const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const falls = heading.getAttribute("aria-sort") === "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const keyed = [...body.rows].map((row) => [value(row.cells[column]), row]);
        keyed.sort((a, b) => (falls ? -1 : 1) * compare(a[0], b[0]));
        body.append(...keyed.map((pair) => pair[1]));
      });
    });
  }
  for (const table of document.querySelectorAll("table.filtered")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 8) continue;
    const label = document.createElement("label"), input = document.createElement("input");
    const told = document.createElement("output");
    label.className = "filter";
    input.type = "search";
    label.append("Show rows with", input, told);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      told.textContent = wanted === "" ? "" : `${shown} of ${rows.length}`;
    });
  }
})();

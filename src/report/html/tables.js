// The tables: sorting and filtering of labels, and what tells that a table is larger than its place.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // --- the table of labels -----------------------------------------------------------------------

  const table = byId("label-table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rowsInOrder = [...body.rows];

  // `1,234.5`, `<0.01 %`; what was not measured comes last.
  const numberIn = (cell) => {
    const number = Number.parseFloat(cell.textContent.replace(/[,<>%]/g, ""));
    return Number.isNaN(number) ? -1 : number;
  };
  const sortBy = (column, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const key = column === 0
      ? (row) => row.cells[0].textContent.trim()
      : (row) => numberIn(row.cells[column]);
    const compare = column === 0
      ? (one, other) => sign * one[0].localeCompare(other[0])
      : (one, other) => sign * (one[0] - other[0]);
    const keyed = rowsInOrder.map((row) => [key(row), row]);
    if (direction) keyed.sort(compare);
    body.append(...keyed.map(([, row]) => row));
    heads.forEach((head, index) => {
      if (index === column && direction) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    // Numbers: largest first; names: from A. A third time: as they were.
    const directions = column === 0 ? ["ascending", "descending"] : ["descending", "ascending"];
    button.addEventListener("click", () => {
      const next = directions.indexOf(head.getAttribute("aria-sort")) + 1;
      sortBy(column, directions[next]);
    });
  });

  // Transactions are labels too; the sum is not.
  const filtered = [...rowsInOrder, ...table.querySelectorAll("tr.transaction")];
  const filter = byId("filter");
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let visible = 0;
    filtered.forEach((row) => {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      visible += row.hidden ? 0 : 1;
    });
    byId("filtered").textContent = wanted ? `${visible} of ${filtered.length}` : "";
    showCues();
  });

  // --- tables that are larger than their place ---------------------------------------------------

  // Where a table goes on beyond an edge, that edge fades; a table that goes on below can be unfolded.
  const scrolls = [...document.querySelectorAll(".scroll")].map((scroll) => {
    const sideways = document.createElement("p");
    sideways.className = "cue sideways";
    sideways.textContent = "more columns: scroll sideways →";
    sideways.hidden = true;
    scroll.before(sideways);
    const unfold = document.createElement("button");
    unfold.type = "button";
    unfold.className = "cue unfold";
    unfold.hidden = true;
    scroll.after(unfold);
    unfold.addEventListener("click", () => {
      scroll.classList.toggle("tall");
      showCues();
      if (scroll.classList.contains("tall")) scroll.scrollIntoView({ block: "nearest" });
    });
    scroll.addEventListener("scroll", () => showCue(one), { passive: true });
    const one = { scroll, sideways, unfold, isTall: scroll.classList.contains("tall") };
    return one;
  });
  const showCue = ({ scroll, sideways, unfold, isTall }) => {
    const isWide = scroll.scrollWidth > scroll.clientWidth + 1;
    const left = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
    sideways.hidden = !isWide;
    scroll.classList.toggle("goes-on", isWide && left > 1);
    if (!isTall) return;
    const rows = [...scroll.querySelectorAll("tbody tr")].filter((row) => !row.hidden).length;
    const isFolded = scroll.classList.contains("tall");
    const isLong = scroll.scrollHeight > scroll.clientHeight + 1;
    unfold.hidden = isFolded && !isLong;
    unfold.textContent = isFolded ? `Show all ${rows} rows` : "Show fewer rows";
  };
  const showCues = () => scrolls.forEach(showCue);
  window.addEventListener("resize", showCues);
  showCues();
})();

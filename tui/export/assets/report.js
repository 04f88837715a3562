// What the page cannot do by itself: sorting and searching the classes, opening and
// closing whole trees. Without it nothing is hidden. Neither "less than" nor
// ampersands: cmake/embed.rb.
"use strict";

document.querySelectorAll("table.sortable").forEach(function (table) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);

  function key(row, column) {
    const cell = row.cells[column];
    const value = cell.dataset.value;
    if (value !== undefined) {
      return Number(value);
    }
    return column === 0 ? cell.textContent.toLowerCase() : null;
  }

  // what nobody measured stays at the end, whichever way
  function compare(left, right, way) {
    if (left === null || right === null) {
      return (left === null ? 1 : 0) - (right === null ? 1 : 0);
    }
    return left === right ? 0 : (left > right ? way : -way);
  }

  function sort(column, way) {
    const rows = Array.from(body.rows).map(function (row) {
      return { row: row, key: key(row, column) };
    });
    rows.sort(function (a, b) { return compare(a.key, b.key, way); });
    body.append(...rows.map(function (entry) { return entry.row; }));
    heads.forEach(function (head, index) {
      if (index === column) {
        head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
  }

  heads.forEach(function (head, column) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", function () {
      const now = head.getAttribute("aria-sort");
      const first = column === 0 ? 1 : -1;
      sort(column, now === null ? first : (now === "ascending" ? -1 : 1));
    });
    head.append(button);
  });

  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "search classes";
  search.setAttribute("aria-label", "search classes");
  search.addEventListener("input", function () {
    const words = search.value.toLowerCase();
    Array.from(body.rows).forEach(function (row) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(words);
    });
  });
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(search);
  table.parentElement.before(tools);
});

document.querySelectorAll(".tree").forEach(function (tree) {
  const tools = document.createElement("div");
  tools.className = "tools";
  [["open all", true], ["close all", false]].forEach(function (choice) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = choice[0];
    button.addEventListener("click", function () {
      tree.querySelectorAll("details").forEach(function (details) {
        details.open = choice[1];
      });
    });
    tools.append(button);
  });
  tree.before(tools);
});

/**
 * A list of any length, of which only what is in view is in the page. One of its items is chosen.
 */
class VirtualList {
  /**
   * @param {HTMLElement} view what scrolls.
   * @param {HTMLElement} rows what it scrolls, as high as all of the list.
   * @param {(item: any) => Node[]} render makes what a row shows.
   * @param {(item: any) => void} open is told when an item is opened.
   */
  constructor(view, rows, render, open) {
    Object.assign(this, { view, rows, render, open, items: [], chosen: -1 });
    view.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(view);
    rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.place), true);
    });
    view.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Show other items.
   *
   * @param {any[]} items
   * @param {number} chosen the place of the one that is chosen, -1 for none.
   */
  show(items, chosen) {
    this.items = items;
    this.height = Number.parseFloat(getComputedStyle(this.view).getPropertyValue("--row")) * rootFontSize();
    this.rows.style.height = `${items.length * this.height}px`;
    this.view.scrollTop = 0;
    this.choose(chosen, false);
  }

  /**
   * Choose an item, bring it into view, and open it if asked to.
   *
   * @param {number} place is brought within the list.
   * @param {boolean} opened
   */
  choose(place, opened) {
    this.chosen = Math.min(Math.max(place, -1), this.items.length - 1);
    if (this.chosen >= 0) {
      const top = this.chosen * this.height;
      if (top < this.view.scrollTop) this.view.scrollTop = top;
      const lowest = top + this.height - this.view.clientHeight;
      if (lowest > this.view.scrollTop) this.view.scrollTop = lowest;
    }
    this.draw();
    if (opened && this.chosen >= 0) this.open(this.items[this.chosen]);
  }

  draw() {
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.height) - 4);
    const last = Math.min(this.items.length, first + Math.ceil(this.view.clientHeight / this.height) + 9);
    const drawn = [];
    for (let place = first; place < last; place++) {
      const row = make("div.row", ...this.render(this.items[place]));
      row.id = `row-${place}`;
      row.dataset.place = String(place);
      row.style.transform = `translateY(${place * this.height}px)`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(place === this.chosen));
      row.setAttribute("aria-setsize", String(this.items.length));
      row.setAttribute("aria-posinset", String(place + 1));
      drawn.push(row);
    }
    this.rows.replaceChildren(...drawn);
    this.view.setAttribute("aria-activedescendant", this.chosen >= 0 ? `row-${this.chosen}` : "");
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.view.clientHeight / this.height) - 1);
    const places = {
      ArrowDown: this.chosen + 1,
      ArrowUp: Math.max(0, this.chosen - 1),
      PageDown: this.chosen + page,
      PageUp: Math.max(0, this.chosen - page),
      Home: 0,
      End: this.items.length - 1,
    };
    if (event.key in places) this.choose(places[event.key], false);
    else if (event.key === "Enter") this.choose(Math.max(0, this.chosen), true);
    else return;
    event.preventDefault();
  }
}

/** @returns {number} the pixels of a rem. */
function rootFontSize() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

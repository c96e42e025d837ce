// The address is the state: #VIEW/ENTITY. Without a view all of them are shown, without an entity all are lit.
(() => {
  const sections = [...document.querySelectorAll("section")];
  const rows = [...document.querySelectorAll(".row")];
  const views = [...document.querySelectorAll(".views a")];
  const chips = [...document.querySelectorAll(".legend .chip")];

  const read = () => {
    const [view, entity = ""] = location.hash.slice(1).split("/");
    const isView = sections.some((section) => section.id === view);
    const isEntity = chips.some((chip) => chip.dataset.entity === entity);
    return { view: isView ? view : "", entity: isEntity ? entity : "" };
  };
  const address = (view, entity) => "#" + view + (entity ? "/" + entity : "");

  const show = () => {
    const { view, entity } = read();
    for (const section of sections) section.hidden = view !== "" && section.id !== view;
    for (const row of rows) row.classList.toggle("dim", entity !== "" && row.dataset.entity !== entity);
    for (const link of views) {
      link.href = address(link.dataset.view, entity);
      link.toggleAttribute("aria-current", link.dataset.view === view);
    }
    for (const chip of chips) {
      const isChosen = chip.dataset.entity === entity;
      chip.href = address(view, isChosen ? "" : chip.dataset.entity);
      chip.toggleAttribute("aria-current", isChosen);
    }
  };

  // A pattern lights up the rows that it reads.
  const light = (event) => {
    const line = event.target.closest("[data-entities]");
    for (const row of document.querySelectorAll(".row.lit")) row.classList.remove("lit");
    if (line === null || event.type === "mouseout") return;
    const entities = line.dataset.entities.split(" ");
    for (const row of line.closest(".collection").querySelectorAll(".row")) {
      row.classList.toggle("lit", entities.includes(row.dataset.entity));
    }
  };

  addEventListener("hashchange", show);
  addEventListener("mouseover", light);
  addEventListener("mouseout", light);
  show();
})();

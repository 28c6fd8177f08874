/** The dialog that shows a graph or an image in a large size. */
const dialog = document.getElementById("lightbox");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.zoom");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const thumbnail = link.querySelector("img");
  const image = dialog.querySelector("img");
  const download = dialog.querySelector("a");
  const { href, download: name } = link.closest("figure").querySelector("a[download]");
  image.src = thumbnail.src;
  image.alt = thumbnail.alt;
  download.href = href;
  download.download = name;
  dialog.querySelector("span").textContent = name;
  dialog.showModal();
});

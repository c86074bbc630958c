"use strict";
// Runs before anything is drawn, so that a chosen colour scheme does not flash.
try {
  const theme = localStorage.getItem("cheaptalk-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  /* a page from disk may have no storage */
}

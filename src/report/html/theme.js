// Before anything is painted: the theme that was chosen last time. A file may not be allowed to remember.
"use strict";
document.documentElement.classList.add("scripted");
try {
  const chosen = localStorage.getItem("wsmeter-theme");
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
} catch {
  // The system's theme, then.
}

"use strict";

/**
 * Read what an element of the page holds: JSON as it is, or as base64 of its zlib form.
 *
 * @param {string} id of the element, which goes from the page once it is read.
 * @returns {Promise<any>} the value.
 */
async function unpack(id) {
  const element = document.getElementById(id);
  const text = element.textContent;
  if (element.dataset.encoding === "plain") return JSON.parse(text);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser can't unpack the episodes: it has no DecompressionStream. Use one of 2023 or later.");
  }
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/**
 * Make an element. What it holds is text, or other elements; no text is ever read as markup.
 *
 * @param {string} name its tag, with its class after a dot, if it has one.
 * @param {...(string | Node)} content
 * @returns {HTMLElement}
 */
function make(name, ...content) {
  const [tag, kind] = name.split(".");
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...content);
  return element;
}

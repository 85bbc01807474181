/* Text in HTML that the service writes. Without imports, because pages of an export use it, too. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for an element or a quoted attribute. */
export function escapedHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Returns a link to an untrusted URL; its text alone when it is not http or https. */
export function linkedUrl(url: string): string {
  if (!/^https?:\/\//i.test(url)) return escapedHtml(url);
  return `<a href="${escapedHtml(url)}" rel="noopener noreferrer nofollow">${escapedHtml(url)}</a>`;
}

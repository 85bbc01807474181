/** Pages that are deep, wide, long-named or like themselves, by name: dear for whatever reads their elements. */
export const DEAR_PAGES: Readonly<Record<string, () => string>> = {
  deep: () => `${'<div>'.repeat(480)}${'<p>word </p>'.repeat(250)}`,
  'deep, with long names': () => {
    const name = `x-${'n'.repeat(93)}`;
    return `${`<${name}>`.repeat(480)}${changing(250)}`;
  },
  wide: () => '<i>w</i>'.repeat(30_000),
  'long attributes': () => `<p id="${'i'.repeat(60_000)}" class="${'c '.repeat(30_000)}">words</p>`.repeat(8),
  'like itself': () => `<ul>${'<li><a href="/">one</a> and <b>two</b></li>'.repeat(5000)}</ul>`,
  'a table of many columns': () => `<table>${`<tr>${'<td>c'.repeat(300)}`.repeat(60)}</table>`,
  'many links': () => Array.from({ length: 8000 }, (_, at) => `<a href="/${at}${'x'.repeat(100)}">l</a>`).join(''),
  'many names of one item': () =>
    `<div itemscope><span itemprop="${'n '.repeat(8000)}">${'value '.repeat(1000)}</span></div>`,
  'one long word': () => `<p>${'w'.repeat(900_000)}</p>`,
  'many short lines': () => '<div>a</div>\n'.repeat(20_000),
};

/** Cells whose colours change with each visit. */
function changing(count: number): string {
  return `<script>for(let at=0;at<${count};at++){const cell=document.createElement('b');cell.textContent='cell '+at;
    cell.style.background='hsl('+Math.random()*360+' 80% 60%)';document.currentScript.before(cell)}</script>`;
}

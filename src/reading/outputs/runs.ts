/** Elements of the copy that are parts of a line. */
const INLINE =
  '/^(?:a|abbr|b|bdi|bdo|br|cite|code|del|dfn|em|i|img|ins|kbd|mark|q|ruby|rp|rt|s|samp|small|span|strong|sub|sup|time|u|var)$/';
const BLOCKS =
  'address,article,aside,blockquote,caption,center,dd,details,div,dl,dt,figcaption,figure,footer,h1,h2,h3,h4,h5,h6,header,hgroup,li,main,nav,ol,p,pre,section,summary,table,tbody,td,tfoot,th,thead,tr,ul';

/**
 * Runs in the page. Splits a document into runs: nodes that follow each other with no block between them, such as a
 * paragraph, a heading, a cell or the links of a line. Returns, of each,
 *
 * - `nodes`, and `text` with its white space collapsed; `words`: their number
 * - `linked`: the number of its characters in links
 * - `around`: the elements around it, innermost first, without the body; `tags`: their names and those inside it
 * - `level`: that of its heading, or 0.
 */
export const RUNS = `(body) => {
  const runs = [];
  const collapsed = (text) => text.replace(/\\s+/g, ' ').trim();
  const linkedIn = (element) => {
    if (element.localName === 'a') return collapsed(element.textContent).length;
    return [...element.querySelectorAll('a')].reduce((sum, link) => sum + collapsed(link.textContent).length, 0);
  };
  const add = (nodes, around) => {
    if (nodes.length === 0) return;
    const text = collapsed(nodes.map((node) => (node.localName === 'br' ? ' ' : node.textContent)).join(''));
    const elements = nodes.filter(({ nodeType }) => nodeType === 1);
    const tags = [...elements, ...around].map(({ localName }) => localName);
    const isLink = around.some(({ localName }) => localName === 'a');
    runs.push({
      nodes,
      text,
      words: text === '' ? 0 : text.split(' ').length,
      linked: isLink ? text.length : Math.min(text.length, elements.reduce((sum, element) => sum + linkedIn(element), 0)),
      around,
      tags,
      level: Number(tags.find((tag) => /^h[1-6]$/.test(tag))?.[1] ?? 0),
    });
  };
  const walk = (element, around) => {
    let nodes = [];
    for (const node of [...element.childNodes]) {
      const isBlock = node.nodeType === 1 && (!${INLINE}.test(node.localName) || node.querySelector('${BLOCKS}') !== null);
      if (!isBlock) {
        nodes.push(node);
        continue;
      }
      add(nodes, around);
      nodes = [];
      if (node.localName === 'pre') add([node], around);
      else walk(node, [node, ...around]);
    }
    add(nodes, around);
  };
  walk(body, []);
  return runs;
}`;

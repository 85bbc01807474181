import {
  attribute,
  canvasHeightOf,
  canvasWidthOf,
  interfaceOf,
  type PageElement,
  page,
  pictureOf,
  removeAttribute,
  setAttribute,
} from '../dom/dom.ts';
import { selectInTrees } from '../dom/open-trees.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';

const MAX_CANVASES = 50;
const MAX_PIXELS = 4_000_000;
/** Maximum number of characters of the images of all canvases. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Puts the picture of each canvas behind it. Returns what takes them away. */
export function showCanvases(): (() => void)[] {
  const undo: (() => void)[] = [];
  let room = MAX_CHARACTERS;
  for (const canvas of selectInTrees(page, 'canvas').slice(0, MAX_CANVASES)) {
    const picture = readablePicture(canvas);
    if (picture === null) continue;
    room -= picture.length;
    if (room < 0) break;
    undo.push(show(canvas, picture));
  }
  return undo;
}

function readablePicture(canvas: PageElement): string | null {
  if (interfaceOf(canvas) !== 'HTMLCanvasElement') return null;
  const pixels = canvasWidthOf(canvas) * canvasHeightOf(canvas);
  if (pixels === 0 || pixels > MAX_PIXELS) return null;
  try {
    return pictureOf(canvas);
  } catch {
    // It shows images of other origins, so it cannot be read.
    return null;
  }
}

/** Where no scripts run, a canvas is an element like others, which shows its content. */
function show(canvas: PageElement, picture: string): () => void {
  const before = attribute(canvas, 'style');
  const { display, width, height } = web.getComputedStyle(canvas);
  const looks = {
    background: `url(${picture}) 0 0 / 100% 100% no-repeat content-box`,
    display: display === 'inline' ? 'inline-block' : display,
    width,
    height,
    overflow: 'hidden',
    'font-size': '0',
    'line-height': '0',
  };
  setStyle(canvas, looks);
  return () => (before === null ? removeAttribute(canvas, 'style') : setAttribute(canvas, 'style', before));
}

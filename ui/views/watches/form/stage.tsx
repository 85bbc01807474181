import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { addressOf } from '../../../api/address.ts';
import type { Box, DetailedResult } from '../../../api/types.ts';
import type { CapturedPage, PageElement } from '../../../parts/captured-page.ts';
import { integer } from '../../../parts/format.ts';
import { Mark } from '../../../parts/mark.tsx';
import { useDrawing } from './use-drawing.ts';

/** Kind of selection on the screenshot. */
export type Mode = 'elements' | 'rectangle' | 'value';

interface StageProps {
  readonly result: DetailedResult;
  readonly page: CapturedPage | undefined;
  readonly mode: Mode;
  /** Places that are ignored, and those of one that is pointed at elsewhere. */
  readonly ignored: readonly Box[];
  readonly lit: readonly Box[];
  /** Places of the values that are read. */
  readonly read: readonly Box[];
  readonly onChoose: (element: PageElement) => void;
  readonly onDraw: (box: Box) => void;
  /** The tools above the screenshot. */
  readonly children: ComponentChildren;
}

const HELP: Readonly<Record<Mode, string>> = {
  elements: 'Click an element to ignore it, and again to count it. Keys: arrows and Enter.',
  rectangle: 'Drag to draw. Keys: Enter begins and ends, arrows move, with Shift resize.',
  value: 'Click the price, or what else is to be read. Keys: arrows and Enter.',
};

/** The screenshot of a page, on which elements are chosen and rectangles drawn. Positions are pixels of the image. */
export function Stage({ result, page, mode, ignored, lit, read, onChoose, onDraw, children }: StageProps) {
  const { screenshot, width, height, title, url } = result;
  const stage = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<{ readonly element: PageElement; readonly byKey: boolean }>();
  const drawing = useDrawing({ width, height }, stage, onDraw);
  const isDrawing = mode === 'rectangle';

  const elementAt = (event: MouseEvent) => {
    const place = stage.current?.getBoundingClientRect();
    if (place === undefined || page === undefined) return undefined;
    const scale = width / place.width;
    return page.at((event.clientX - place.left) * scale, (event.clientY - place.top) * scale);
  };
  const point = (element: PageElement | undefined, byKey = false) =>
    setPointed(element === undefined ? undefined : { element, byKey });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isDrawing) return drawing.onKeyDown(event);
    if (page === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = elementFrom(page, pointed?.element, event.key);
    if (next === undefined && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    if (next !== undefined) point(next, true);
    else if (pointed !== undefined) onChoose(pointed.element);
  };
  const boxes = pointed?.element.box == null || isDrawing ? [] : [pointed.element.box];
  return (
    <>
      <div class="viewer-tools">{children}</div>
      <div class="stage-line">
        <p class="muted" id="stage-help" hidden={isDrawing ? drawing.box !== undefined : pointed !== undefined}>
          {HELP[mode]}
        </p>
        <p class="stage-status" id="stage-status" role="status">
          {isDrawing ? (
            <PlaceOf box={drawing.box} />
          ) : pointed === undefined ? null : (
            <>
              <code>{page?.nameOf(pointed.element)}</code> <PlaceOf box={pointed.element.box} />
            </>
          )}
        </p>
      </div>
      <div class="canvas">
        <div
          ref={stage}
          class={`stage ${mode}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: elements are chosen with keys, too
          tabIndex={0}
          role="application"
          aria-label={isDrawing ? 'Screenshot of the page: draw rectangles' : 'Screenshot of the page: choose elements'}
          aria-describedby="stage-help stage-status"
          // Until the element map has come, keys point at nothing.
          aria-busy={!isDrawing && page === undefined}
          onKeyDown={onKeyDown}
          onPointerMove={(event) => {
            if (isDrawing) drawing.onPointerMove(event);
            // Scrolling under a pointer that rests moves it, too; keys scroll.
            else if (event.movementX !== 0 || event.movementY !== 0) point(elementAt(event));
          }}
          onPointerLeave={() => point(undefined)}
          onPointerDown={(event) => isDrawing && drawing.onPointerDown(event)}
          onPointerCancel={drawing.onPointerCancel}
          onPointerUp={() => isDrawing && drawing.onPointerUp()}
          onClick={(event) => {
            const element = isDrawing ? undefined : elementAt(event);
            if (element !== undefined) onChoose(element);
          }}
        >
          <img
            src={addressOf(screenshot)}
            width={width}
            height={height}
            alt={`Screenshot of ${title || url}`}
            draggable={false}
          />
          {ignored.map((box, at) => (
            <Mark key={at} box={box} image={result} class="mark-ignored" />
          ))}
          {read.map((box, at) => (
            <Mark key={at} box={box} image={result} class="mark-read" />
          ))}
          {lit.map((box, at) => (
            <Mark key={at} box={box} image={result} class="mark-lit" isRevealed={at === 0} />
          ))}
          {boxes.map((box, at) => (
            <Mark key={at} box={box} image={result} class="mark-lit" isRevealed={pointed?.byKey === true} />
          ))}
          {drawing.box !== undefined && <Mark box={drawing.box} image={result} class="mark-drawn" isRevealed />}
        </div>
      </div>
    </>
  );
}

function PlaceOf({ box }: { readonly box: Box | null | undefined }) {
  if (box == null) return null;
  const [x, y, width, height] = [box.x, box.y, box.width, box.height].map((each) => integer(Math.round(each)));
  return (
    <span class="muted number">
      {width} × {height} at {x}, {y}
    </span>
  );
}

/** Returns the element to which a key moves; undefined when it moves nowhere. */
function elementFrom(page: CapturedPage, from: PageElement | undefined, key: string): PageElement | undefined {
  if (!/^Arrow/.test(key)) return undefined;
  if (from === undefined) return page.inside(undefined)[0];
  if (key === 'ArrowUp') return page.around(from);
  if (key === 'ArrowDown') return page.inside(from)[0];
  const siblings = page.inside(page.around(from));
  return siblings[siblings.indexOf(from) + (key === 'ArrowLeft' ? -1 : 1)];
}

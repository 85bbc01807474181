import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Box } from '../../../api/types.ts';
import type { Size } from '../../../parts/mark.tsx';

/** Smallest side of a rectangle in pixels of the image: a click draws none. */
const MIN_SIDE = 4;
/** Distance by which a key moves or resizes, in pixels of the image. */
const STEP = 10;

const MOVES: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

/** Draws rectangles on a screenshot, with the pointer or with keys. Boxes are in pixels of the image. */
export function useDrawing(image: Size, stage: RefObject<HTMLElement | null>, onDraw: (box: Box) => void) {
  const [box, setBox] = useState<Box>();
  const start = useRef<readonly [x: number, y: number] | undefined>(undefined);
  useEffect(() => setBox(undefined), [image.width, image.height]);

  const pointOf = (event: MouseEvent): readonly [x: number, y: number] => {
    const place = stage.current?.getBoundingClientRect();
    if (place === undefined) return [0, 0];
    const scale = image.width / place.width;
    return [
      clamp((event.clientX - place.left) * scale, image.width),
      clamp((event.clientY - place.top) * scale, image.height),
    ];
  };
  const finish = () => {
    start.current = undefined;
    setBox(undefined);
    if (box !== undefined && box.width >= MIN_SIDE && box.height >= MIN_SIDE) onDraw(box);
  };
  return {
    box,
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      stage.current?.setPointerCapture(event.pointerId);
      start.current = pointOf(event);
      setBox(undefined);
    },
    onPointerMove: (event: PointerEvent) => {
      if (start.current === undefined) return;
      const [[x, y], [toX, toY]] = [start.current, pointOf(event)];
      setBox(within({ x: Math.min(x, toX), y: Math.min(y, toY), width: Math.abs(toX - x), height: Math.abs(toY - y) }));
    },
    /** The browser scrolls instead. */
    onPointerCancel: () => {
      start.current = undefined;
      setBox(undefined);
    },
    onPointerUp: () => start.current !== undefined && finish(),
    onKeyDown: (event: KeyboardEvent) => {
      const [x, y] = MOVES[event.key] ?? [];
      if (event.key === 'Enter') {
        if (box === undefined) setBox(seenPart(image, stage.current));
        else finish();
      } else if (event.key === 'Escape' && box !== undefined) setBox(undefined);
      else if (box !== undefined && x !== undefined && y !== undefined) {
        const moved = {
          ...box,
          x: clamp(box.x + x, image.width - box.width),
          y: clamp(box.y + y, image.height - box.height),
        };
        const resized = {
          ...box,
          width: clamp(box.width + x, image.width - box.x, STEP),
          height: clamp(box.height + y, image.height - box.y, STEP),
        };
        setBox(event.shiftKey ? resized : moved);
      } else return;
      event.preventDefault();
    },
  };
}

/** Returns a rectangle in the middle of the part of the screenshot that is scrolled into view. */
function seenPart(image: Size, stage: HTMLElement | null): Box {
  const canvas = stage?.parentElement;
  const scale = stage == null ? 1 : image.width / stage.clientWidth;
  const [top, seen] = [(canvas?.scrollTop ?? 0) * scale, (canvas?.clientHeight ?? 0) * scale];
  const [width, height] = [image.width / 4, Math.min(image.height, seen || image.height) / 4];
  return within({
    x: image.width / 2 - width / 2,
    y: Math.min(top + seen / 2, image.height) - height / 2,
    width,
    height,
  });
}

function within({ x, y, width, height }: Box): Box {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
}

function clamp(value: number, max: number, min = 0): number {
  return Math.max(min, Math.min(max, value));
}

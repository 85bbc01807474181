import { canvasWatch } from './canvases.ts';
import { isMoving } from './moving.ts';
import { showsSign } from './signs.ts';
import { isWaiting } from './waiting.ts';

/**
 * Returns a function that returns whether the page shows that it is not done: finite animations and transitions that
 * end within `leftMs`, canvases drawn to since the last call, spinners, skeletons and "Loading..." in the window, or
 * nothing to see in the window of a page that has scripts.
 */
export function watchWork(): (leftMs: number) => boolean {
  const areDrawn = canvasWatch();
  return (leftMs) => {
    const drawn = areDrawn();
    return drawn || isMoving(leftMs) || showsSign() || isWaiting();
  };
}

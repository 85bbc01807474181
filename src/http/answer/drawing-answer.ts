import type { ReadableFile } from '../../storage/ports/artifact-store.ts';
import type { HttpContext } from '../state.ts';

export const DRAWING_TYPE = 'image/png';

/** Answers with both images of a comparison beside each other. */
export function answerDrawing(ctx: HttpContext, drawing: ReadableFile): void {
  ctx.status = 200;
  ctx.type = DRAWING_TYPE;
  ctx.body = drawing.stream();
  ctx.length = drawing.bytes;
}

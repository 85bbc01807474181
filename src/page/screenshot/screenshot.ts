import type { Rectangle } from '../../capture/options/screenshot.ts';
import type { ScreenshotSize } from './screenshot-size.ts';

export interface Screenshot extends ScreenshotSize {
  readonly image: Uint8Array;
  /** The part of the page that it shows, in CSS pixels from the upper left corner of its content. Null: the window. */
  readonly part: Rectangle | null;
  /** True when the page had to be stopped for the screenshot, or when time sufficed for only a part of the page. */
  readonly isPartial: boolean;
}

import { useState } from 'preact/hooks';
import type { Box, DetailedResult } from '../../../api/types.ts';
import type { CapturedPage, PageElement } from '../../../parts/captured-page.ts';
import { ofBox, ofSelector, placesOf, selectorOf } from '../../../parts/ignore-places.ts';
import { type Mode, Stage } from './stage.tsx';
import { textIn } from './text-in.ts';

const MODES: readonly (readonly [mode: Mode, label: string])[] = [
  ['elements', 'Elements'],
  ['rectangle', 'Rectangle'],
  ['value', 'Value'],
];

interface PickerProps {
  readonly result: DetailedResult;
  readonly page: CapturedPage | undefined;
  /** Whether the capture has no element map. */
  readonly isMissing: boolean;
  readonly mode: Mode;
  readonly onMode: (mode: Mode) => void;
  /** Selectors of the values that are read. */
  readonly read: readonly string[];
  readonly ignored: readonly string[];
  /** The entry under the pointer, in the list beside the screenshot: one of `ignored`, or a proposed selector. */
  readonly lit: string | undefined;
  readonly onChange: (ignored: readonly string[]) => void;
  /** Called with the selector and the text of an element whose value is to be read. */
  readonly onRead: (selector: string, text: string) => void;
}

/** The screenshot of a page, on which ignored elements and rectangles are chosen, and elements whose values are read. */
export function Picker(props: PickerProps) {
  const { result, page, isMissing, read, ignored, lit, onMode, onChange, onRead } = props;
  const [last, setLast] = useState<PageElement>();
  const mode = isMissing ? 'rectangle' : props.mode;
  const isReading = mode === 'value';
  const toggle = (element: PageElement) => {
    if (page === undefined) return;
    const matches = ignored.filter((each) => {
      const selector = selectorOf(each);
      return selector !== undefined && page.matching(selector)?.includes(element) === true;
    });
    if (matches.length > 0) {
      setLast(undefined);
      return onChange(ignored.filter((each) => !matches.includes(each)));
    }
    setLast(element);
    onChange([...ignored, ofSelector(page.nameOf(element))]);
  };
  const draw = (box: Box) => onChange([...new Set([...ignored, ofBox(box)])]);
  const choose = (element: PageElement) => {
    if (!isReading) return toggle(element);
    setLast(element);
    if (page !== undefined) onRead(page.nameOf(element), textIn(element));
  };
  const name = last === undefined ? undefined : page?.nameOf(last);
  const isKept = name !== undefined && (isReading ? read.includes(name) : ignored.includes(ofSelector(name)));
  const wider = isKept && last !== undefined ? page?.around(last) : undefined;
  const widen = () => {
    if (wider === undefined || page === undefined || last === undefined) return;
    setLast(wider);
    if (isReading) return onRead(page.nameOf(wider), textIn(wider));
    const [narrow, wide] = [last, wider].map((each) => ofSelector(page.nameOf(each)));
    onChange([...new Set(ignored.flatMap((each) => (each === narrow ? (wide ?? []) : each)))]);
  };
  return (
    <div class="viewer panel picker">
      {isMissing && <p class="viewer-note muted">This capture has no element map, so only rectangles can be chosen.</p>}
      <Stage
        result={result}
        page={page}
        mode={mode}
        ignored={ignored.flatMap((each) => placesOf(each, page))}
        lit={lit === undefined ? [] : placesOf(lit, page)}
        read={read.flatMap((selector) => placesOf(ofSelector(selector), page))}
        onChoose={choose}
        onDraw={draw}
      >
        <fieldset class="segments" aria-label="What is chosen">
          {MODES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name="mode"
                checked={mode === value}
                disabled={isMissing && value !== 'rectangle'}
                onChange={() => onMode(value)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <button type="button" class="button" disabled={wider === undefined} onClick={widen}>
          {isReading ? 'Read' : 'Ignore'} what is around it
        </button>
      </Stage>
    </div>
  );
}

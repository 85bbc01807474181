import { useState } from 'preact/hooks';
import type { Box, DetailedResult } from '../../../api/types.ts';
import type { PageElement } from '../../../parts/captured-page.ts';
import { ofBox, ofSelector, placesOf, selectorOf, unknownIn } from '../../../parts/ignore-places.ts';
import { NotDrawn } from '../../../parts/ignored.tsx';
import { usePage } from '../../../parts/use-page.ts';
import { type Mode, Stage } from './stage.tsx';

const MODES: readonly (readonly [mode: Mode, label: string])[] = [
  ['elements', 'Elements'],
  ['rectangle', 'Rectangle'],
];

interface IgnorePickerProps {
  readonly result: DetailedResult;
  readonly ignored: readonly string[];
  /** The entry under the pointer, in the list beside the picture: one of `ignored`, or a proposed selector. */
  readonly lit: string | undefined;
  readonly onChange: (ignored: readonly string[]) => void;
}

/** The picture of a page, on which ignored elements and rectangles are chosen. */
export function IgnorePicker({ result, ignored, lit, onChange }: IgnorePickerProps) {
  const { page, isMissing } = usePage(result.id);
  const [wanted, setMode] = useState<Mode>('elements');
  const [last, setLast] = useState<PageElement>();
  const mode = isMissing ? 'rectangle' : wanted;
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
  const isKept = last !== undefined && page !== undefined && ignored.includes(ofSelector(page.nameOf(last)));
  const wider = isKept ? page.around(last) : undefined;
  const widen = () => {
    if (wider === undefined || page === undefined || last === undefined) return;
    const [narrow, wide] = [last, wider].map((each) => ofSelector(page.nameOf(each)));
    setLast(wider);
    onChange([...new Set(ignored.flatMap((each) => (each === narrow ? (wide ?? []) : each)))]);
  };
  return (
    <div class="viewer panel picker">
      {isMissing && <p class="viewer-note muted">This capture has no element map, so only rectangles can be chosen.</p>}
      <NotDrawn selectors={unknownIn(ignored, page)} />
      <Stage
        result={result}
        page={page}
        mode={mode}
        ignored={ignored.flatMap((each) => placesOf(each, page))}
        lit={lit === undefined ? [] : placesOf(lit, page)}
        onChoose={toggle}
        onDraw={draw}
      >
        <fieldset class="segments" aria-label="What is chosen">
          {MODES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name="mode"
                checked={mode === value}
                disabled={isMissing && value === 'elements'}
                onChange={() => setMode(value)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <button type="button" class="button" disabled={wider === undefined} onClick={widen}>
          Ignore what is around it
        </button>
      </Stage>
    </div>
  );
}

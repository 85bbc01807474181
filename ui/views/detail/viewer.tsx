import { useState } from 'preact/hooks';
import type { DetailedResult } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty } from '../../parts/view.tsx';

const ZOOMS = [
  ['width', 'Fit to width'],
  ['whole', 'Whole'],
  ['actual', '1:1'],
] as const;
type Zoom = (typeof ZOOMS)[number][0];

/** The screenshot in three sizes, and the HTML snapshot. */
export function Viewer({ result }: { readonly result: DetailedResult }) {
  const { id, screenshot, html, format, width, height, title } = result;
  const [shown, setShown] = useState<'image' | 'html'>('image');
  const [zoom, setZoom] = useState<Zoom>('width');
  const hasImage = screenshot !== '' && format !== 'pdf';
  const isPicture = shown === 'image' && hasImage;
  if (screenshot === '' && html === '') return <Empty title="No image">The capture failed before there was one.</Empty>;
  return (
    <div class="viewer panel">
      <div class="viewer-tools">
        <fieldset class="segments" aria-label="What is shown">
          <Segment name="shown" label="Screenshot" isChecked={shown === 'image'} onCheck={() => setShown('image')} />
          {html !== '' && (
            <Segment name="shown" label="HTML snapshot" isChecked={shown === 'html'} onCheck={() => setShown('html')} />
          )}
        </fieldset>
        {isPicture && (
          <fieldset class="segments" aria-label="Zoom">
            {ZOOMS.map(([value, label]) => (
              <Segment
                key={value}
                name="zoom"
                label={label}
                isChecked={zoom === value}
                onCheck={() => setZoom(value)}
              />
            ))}
          </fieldset>
        )}
        <span class="viewer-size muted number">
          {shown === 'image' && width > 0 ? `${integer(width)} × ${integer(height)} ${format}` : ''}
        </span>
        <a
          class="button quiet square"
          href={shown === 'html' ? html : screenshot}
          target="_blank"
          rel="noopener"
          aria-label="Open in a tab of its own"
        >
          <Icon name="external" />
        </a>
      </div>
      {shown === 'html' ? (
        <>
          <p class="viewer-note muted">
            The text and structure of the page when its picture was taken, for searching and comparing. It looks plain
            because nothing is loaded or run here: no styles, no images, no scripts. How the page looked: the
            screenshot.
          </p>
          {/* No scripts, no origin, no navigation: the snapshot is hostile. Its own policy says the same. */}
          <iframe class="snapshot" sandbox="" src={html} title={`HTML snapshot of capture ${id}`} />
        </>
      ) : hasImage ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
        <section class={`canvas zoom-${zoom}`} tabIndex={0} aria-label="Screenshot, scrollable">
          <img src={screenshot} width={width} height={height} alt={`Screenshot of ${title || result.url}`} />
        </section>
      ) : (
        <Empty title="PDF">
          <a class="button primary" href={screenshot} target="_blank" rel="noopener">
            Open the PDF
          </a>
        </Empty>
      )}
    </div>
  );
}

interface SegmentProps {
  readonly name: string;
  readonly label: string;
  readonly isChecked: boolean;
  readonly onCheck: () => void;
}

function Segment({ name, label, isChecked, onCheck }: SegmentProps) {
  return (
    <label>
      <input type="radio" name={name} checked={isChecked} onChange={onCheck} />
      {label}
    </label>
  );
}

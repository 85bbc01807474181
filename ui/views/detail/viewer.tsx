import { useState } from 'preact/hooks';
import { ARTIFACTS } from '../../../src/capture/artifacts/artifacts.ts';
import { addressOf } from '../../api/address.ts';
import { artifactsOf, type ShownKind } from '../../api/artifacts.ts';
import type { DetailedResult } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty } from '../../parts/view.tsx';
import { ElementsView } from './elements-view.tsx';
import { MarkdownView } from './markdown-view.tsx';

const ZOOMS = [
  ['width', 'Fit to width'],
  ['whole', 'Whole'],
  ['actual', '1:1'],
] as const;
type Zoom = (typeof ZOOMS)[number][0];

/** Text about a file that is not an image. */
const NOTES: Readonly<Record<Exclude<ShownKind, 'image'>, string>> = {
  html: 'The text and structure of the page when its screenshot was taken, for searching and comparing. It looks plain because nothing is loaded or run here: no styles, no images, no scripts. How the page looked: the screenshot.',
  markdown:
    'What the page is about, as it was shown: without navigation, banners and text that nobody could see. Point at a block to see its place; the output blocks holds the places.',
  blocks: 'Where the blocks of the Markdown are in the screenshot, in pixels, and how many texts the page hides.',
  text: 'The words that the page showed, in reading order. Text that nobody could see is left out.',
  links: 'The links that the page showed, with the places of their words in the screenshot, in pixels.',
  metadata:
    'What the page says about itself to machines: schema.org data, Open Graph, feeds and its canonical URL. Visitors do not see it.',
  mhtml:
    'The page with its images, styles and frames in one file. A browser opens it from your disk, without the network.',
  har: 'The requests of the page with their headers and times, and their bodies when they were asked for, for the developer tools of a browser.',
  extract: 'The values that the rules of the request found, by their names. What was missing is null.',
  aria: 'Roles, names and texts as assistive technology is told them, in the notation of Playwright.',
  elements:
    'Where the elements of the page are in the screenshot, with short forms of their texts and styles. Comparisons find and ignore elements by it. Point at an element to see its place.',
  accessibility: 'The tree of roles, names, values and states that assistive technology is told.',
};

/** Media types that a browser shows as text. Other files are saved. */
const TEXT = /^(text\/|application\/json)/;

/** The screenshot in three sizes, and the other files of the capture. */
export function Viewer({ result }: { readonly result: DetailedResult }) {
  const { id, screenshot, format, width, height, title } = result;
  const artifacts = artifactsOf(result);
  const boxes = result.snippets?.flatMap((snippet) => snippet.boxes) ?? [];
  const [shown, setShown] = useState<ShownKind>('image');
  const [zoom, setZoom] = useState<Zoom>('width');
  const hasImage = screenshot !== '' && format !== 'pdf';
  const isImage = shown === 'image' && hasImage;
  const path = artifacts.find(({ kind }) => kind === shown)?.path;
  if (path === undefined) return <Empty title="No image">The capture failed before there was one.</Empty>;
  return (
    <div class="viewer panel">
      <div class="viewer-tools">
        <Segments
          label="What is shown"
          name="shown"
          choices={artifacts.map(({ kind }) => [kind, ARTIFACTS[kind].label] as const)}
          chosen={shown}
          onChoose={setShown}
        />
        {isImage && <Segments label="Zoom" name="zoom" choices={ZOOMS} chosen={zoom} onChoose={setZoom} />}
        <span class="viewer-size muted number">
          {shown === 'image' && width > 0 ? `${integer(width)} × ${integer(height)} ${format}` : ''}
        </span>
        <a
          class="button quiet square"
          href={addressOf(path)}
          target="_blank"
          rel="noopener"
          aria-label="Open in a tab of its own"
        >
          <Icon name="external" />
        </a>
      </div>
      {shown !== 'image' ? (
        <>
          <p class="viewer-note muted">{NOTES[shown]}</p>
          {shown === 'markdown' ? (
            <MarkdownView result={result} path={path} />
          ) : shown === 'elements' ? (
            <ElementsView result={result} />
          ) : !TEXT.test(ARTIFACTS[shown].mediaType(format)) ? (
            <Empty title={ARTIFACTS[shown].label}>
              <a
                class="button primary"
                href={addressOf(path)}
                download={`capture-${id}.${ARTIFACTS[shown].extension(format)}`}
              >
                Save the file
              </a>
            </Empty>
          ) : (
            // No scripts, no origin, no navigation: the file is hostile. Its own policy says the same.
            <iframe
              class="snapshot"
              sandbox=""
              src={addressOf(path)}
              title={`${ARTIFACTS[shown].label} of capture ${id}`}
            />
          )}
        </>
      ) : hasImage ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
        <section class={`canvas zoom-${zoom}`} tabIndex={0} aria-label="Screenshot, scrollable">
          <div class="viewer-image">
            <img
              src={addressOf(screenshot)}
              width={width}
              height={height}
              alt={`Screenshot of ${title || result.url}`}
            />
            {boxes.map((box, at) => (
              <Mark key={`${box.x} ${box.y}`} box={box} image={result} class="mark-found" isRevealed={at === 0} />
            ))}
          </div>
        </section>
      ) : (
        <Empty title="PDF">
          <a class="button primary" href={addressOf(screenshot)} target="_blank" rel="noopener">
            Open the PDF
          </a>
        </Empty>
      )}
    </div>
  );
}

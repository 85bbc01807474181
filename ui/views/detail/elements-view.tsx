import { useMemo, useState } from 'preact/hooks';
import { addressOf } from '../../api/address.ts';
import type { DetailedResult } from '../../api/types.ts';
import { boxesOf, type CapturedPage, type PageElement } from '../../parts/captured-page.ts';
import { Icon } from '../../parts/icon.tsx';
import { Mark } from '../../parts/mark.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { usePage } from '../../parts/use-page.ts';
import { Empty } from '../../parts/view.tsx';

/** Number of children of an element that are listed at first, and more with each click. */
const LISTED = 200;
/** Maximum number of texts that the line of an element shows. */
const MAX_TEXTS = 20;

/** The elements of the page beside the screenshot: pointing at one lights its place, a selector what it matches. */
export function ElementsView({ result }: { readonly result: DetailedResult }) {
  const { page, isMissing } = usePage(result.id);
  const [pointed, setPointed] = useState<PageElement>();
  const [selector, setSelector] = useState('');
  const { screenshot, width, height } = result;
  const isFinding = selector.trim() !== '';
  const found = useMemo(() => (isFinding ? page?.matching(selector) : page?.elements), [page, isFinding, selector]);
  if (isMissing) return <Empty title="No element map">The page could not be asked for its elements.</Empty>;
  if (page === undefined) return null;
  const lit = boxesOf(pointed !== undefined ? [pointed] : isFinding ? (found ?? []) : []);
  return (
    <div class="markdown">
      <div class="markdown-text">
        <div class="elements-find">
          <TextField label="Find by CSS selector" placeholder="main > .price" value={selector} onInput={setSelector} />
          <p class="muted" role="status">
            {found === undefined
              ? 'This browser does not know the selector.'
              : `${found.length} ${isFinding ? 'found' : 'elements'}`}
            {found !== undefined && page.isPartial && ', and more, which a limit cut'}
          </p>
        </div>
        <div class="elements-tree">
          <Elements page={page} elements={page.elements.slice(0, 1)} onPoint={setPointed} />
        </div>
      </div>
      <div class="markdown-image canvas">
        <div>
          <img class="markdown-shot" src={addressOf(screenshot)} width={width} height={height} alt="" />
          {lit.map((box, at) => (
            <Mark key={at} box={box} image={result} class="mark-lit" isRevealed={at === 0} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface ElementsProps {
  readonly page: CapturedPage;
  readonly elements: readonly PageElement[];
  readonly onPoint: (element: PageElement | undefined) => void;
}

function Elements({ elements, ...props }: ElementsProps) {
  const [listed, setListed] = useState(LISTED);
  const more = elements.length - listed;
  return (
    <ul>
      {elements.slice(0, listed).map((element) => (
        <li key={element.order}>
          <Branch element={element} {...props} />
        </li>
      ))}
      {more > 0 && (
        <li>
          <button type="button" class="button quiet" onClick={() => setListed(listed + LISTED)}>
            Show {Math.min(more, LISTED)} of {more} more
          </button>
        </li>
      )}
    </ul>
  );
}

function Branch({ element, page, onPoint }: Omit<ElementsProps, 'elements'> & { readonly element: PageElement }) {
  const { children, box, texts } = element;
  const [root] = page.elements;
  const body = root?.children.find(({ tag }) => tag === 'body');
  const [isOpen, setOpen] = useState(element === root || element === body);
  const name = page.nameOf(element);
  return (
    <>
      <div class={`element-line ${box === null ? 'unseen' : ''}`}>
        {children.length === 0 ? (
          <span class="element-leaf" />
        ) : (
          <button
            type="button"
            class="button quiet square"
            aria-expanded={isOpen}
            aria-label={`Elements in ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="right" size={13} />
          </button>
        )}
        <button
          type="button"
          class="element-name"
          title={name}
          onMouseEnter={() => onPoint(element)}
          onMouseLeave={() => onPoint(undefined)}
          onFocus={() => onPoint(element)}
          onBlur={() => onPoint(undefined)}
        >
          <code>{labelOf(element)}</code>{' '}
          <span class="muted">
            {texts
              .slice(0, MAX_TEXTS)
              .map(({ text }) => text)
              .join(' ')}
          </span>
        </button>
      </div>
      {isOpen && children.length > 0 && <Elements page={page} elements={children} onPoint={onPoint} />}
    </>
  );
}

function labelOf({ tag, id = '', class: classes = '' }: PageElement): string {
  const names = classes.split(/\s+/).filter((name) => name !== '');
  return [tag, id === '' ? '' : `#${id}`, ...names.map((name) => `.${name}`)].join('');
}

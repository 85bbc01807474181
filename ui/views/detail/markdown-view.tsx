import { useEffect, useState } from 'preact/hooks';
import { addressOf } from '../../api/address.ts';
import type { Box, DetailedResult } from '../../api/types.ts';
import { Mark } from '../../parts/mark.tsx';
import { useAnswer } from '../../parts/use-answer.ts';

interface Block {
  readonly start: number;
  readonly end: number;
  readonly box: Box | null;
}

/**
 * The blocks of the Markdown beside the screenshot: pointing at one lights its place in the image. The text is shown as
 * it was written, so nothing of it becomes a link, an image or an element.
 */
export function MarkdownView({ result, path }: { readonly result: DetailedResult; readonly path: string }) {
  const { screenshot, format, width, height, outputs } = result;
  const text = useText(path);
  const places = outputs.find(({ name, path }) => name === 'blocks' && path !== '')?.path;
  const { data } = useAnswer<{ readonly blocks: readonly Block[] }>(places);
  const [lit, setLit] = useState<Box | null>(null);
  const blocks = data?.blocks ?? [{ start: 0, end: text.length, box: null }];
  return (
    <div class="markdown">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="markdown-text" tabIndex={0} aria-label="Markdown, scrollable">
        {blocks.map(({ start, end, box }) => (
          <pre
            key={start}
            class={box !== null && box === lit ? 'lit' : ''}
            onMouseEnter={() => setLit(box)}
            onMouseLeave={() => setLit(null)}
          >
            {text.slice(start, end)}
          </pre>
        ))}
      </section>
      {format !== 'pdf' && (
        <div class="markdown-image canvas">
          <div>
            <img class="markdown-shot" src={addressOf(screenshot)} width={width} height={height} alt="" />
            {lit !== null && <Mark box={lit} image={result} class="mark-lit" isRevealed />}
          </div>
        </div>
      )}
    </div>
  );
}

function useText(path: string): string {
  const [text, setText] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    fetch(addressOf(path), { signal: abort.signal })
      .then((response) => (response.ok ? response.text() : ''))
      .then(setText, () => undefined);
    return () => abort.abort();
  }, [path]);
  return text;
}

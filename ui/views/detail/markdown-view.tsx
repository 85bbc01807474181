import { useEffect, useState } from 'preact/hooks';
import type { DetailedResult } from '../../api/types.ts';
import { useAnswer } from '../../parts/use-answer.ts';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

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
        <div class="markdown-image">
          <div>
            <img class="markdown-shot" src={screenshot} width={width} height={height} alt="" />
            {lit !== null && <Light box={lit} width={width} height={height} />}
          </div>
        </div>
      )}
    </div>
  );
}

function Light({ box, width, height }: { readonly box: Box; readonly width: number; readonly height: number }) {
  const share = (part: number, whole: number) => `${(100 * part) / whole}%`;
  return (
    <span
      class="markdown-light"
      ref={(light) => light?.scrollIntoView({ block: 'nearest' })}
      style={{
        left: share(box.x, width),
        top: share(box.y, height),
        width: share(box.width, width),
        height: share(box.height, height),
      }}
    />
  );
}

function useText(path: string): string {
  const [text, setText] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    fetch(path, { signal: abort.signal })
      .then((response) => (response.ok ? response.text() : ''))
      .then(setText, () => undefined);
    return () => abort.abort();
  }, [path]);
  return text;
}

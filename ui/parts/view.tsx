import type { ComponentChildren, Ref } from 'preact';
import { useEffect } from 'preact/hooks';

interface ViewProps {
  readonly title: string;
  /** Shown as the heading in place of `title`, which remains the title of the document. */
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Reference to the element that scrolls. */
  readonly scroller?: Ref<HTMLElement>;
  /** Called when the view was scrolled, or the focus moved in it. */
  readonly onMove?: () => void;
}

/** The frame of a view: heading, actions, contents. */
export function View({ title, heading, actions, children, class: name = '', scroller = null, onMove }: ViewProps) {
  useEffect(() => {
    document.title = `${title} · Capstan`;
  }, [title]);
  return (
    <main id="main" class={`view ${name}`} tabIndex={-1} ref={scroller} onScroll={onMove} onFocusIn={onMove}>
      <header class="view-head">
        <h1 title={title}>{heading ?? title}</h1>
        <div class="view-actions">{actions}</div>
      </header>
      {children}
    </main>
  );
}

/** A failure, as its text. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

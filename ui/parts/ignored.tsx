import { Icon } from './icon.tsx';

interface IgnoredProps {
  readonly ignored: readonly string[];
  /** Called with what the pointer or the focus is on. */
  readonly onPoint?: (each: string | undefined) => void;
  /** Without it, nothing can be removed. */
  readonly onRemove?: ((each: string) => void) | undefined;
}

/** The entries of `ignore`, as the API has them; each can be removed. */
export function Ignored({ ignored, onPoint, onRemove }: IgnoredProps) {
  return (
    <ul class="chips" aria-label="Ignored">
      {ignored.map((each) => {
        const { kind, text } = partsOf(each);
        return (
          <li key={each} class="chip" onMouseEnter={() => onPoint?.(each)} onMouseLeave={() => onPoint?.(undefined)}>
            <span class="chip-kind">{kind}</span>
            <code>{text}</code>
            {onRemove !== undefined && (
              <button
                type="button"
                class="button quiet square"
                aria-label={`Do not ignore ${each}`}
                onFocus={() => onPoint?.(each)}
                onBlur={() => onPoint?.(undefined)}
                onClick={() => onRemove(each)}
              >
                <Icon name="close" size={14} />
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function partsOf(each: string): { readonly kind: string; readonly text: string } {
  const [, kind, text] = /^(selector|text):(.*)$/s.exec(each) ?? [];
  if (kind !== undefined && text !== undefined) return { kind: kind === 'selector' ? 'element' : kind, text };
  return { kind: /^\d/.test(each) ? 'rectangle' : 'kind', text: each };
}

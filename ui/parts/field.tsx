import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** Attributes that tie a control to its label and its problem. */
export interface ControlAttributes {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

export interface FieldProps {
  readonly label: string;
  /** Problem of the value, shown below the control. */
  readonly problem?: string | undefined;
  /** Id of a text about the field. */
  readonly describedBy?: string | undefined;
  readonly className?: string | undefined;
  readonly children: (control: ControlAttributes) => ComponentChildren;
}

/** A control with its label, and the problem of its value. */
export function Field({ label, problem, describedBy, className = '', children }: FieldProps) {
  const id = useId();
  const problemId = `${id}-problem`;
  const about = [...(problem === undefined ? [] : [problemId]), ...(describedBy === undefined ? [] : [describedBy])];
  return (
    <div class={`field ${className}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-invalid': problem !== undefined,
        'aria-describedby': about.length === 0 ? undefined : about.join(' '),
      })}
      {problem !== undefined && (
        <p id={problemId} class="error-text" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

import type { CapstanEvent } from '../capture/events.ts';

type FieldsOf<E> = E extends E ? keyof E : never;
type ValueOf<E, F> = E extends E ? (F extends keyof E ? E[F] : never) : never;

/** The fields of an event of any type. */
export type EventFields = { readonly [F in FieldsOf<CapstanEvent>]?: ValueOf<CapstanEvent, F> };

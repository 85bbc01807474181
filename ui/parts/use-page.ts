import { useMemo } from 'preact/hooks';
import { mapPath } from '../api/artifacts.ts';
import { type CapturedPage, readPage } from './captured-page.ts';
import { useAnswer } from './use-answer.ts';

/** Reads the elements of a captured page. `isMissing`: it has no element map, or none that can be read. */
export function usePage(id: number | undefined): { readonly page?: CapturedPage; readonly isMissing: boolean } {
  const { data, error } = useAnswer<unknown>(id === undefined ? undefined : mapPath(id));
  const page = useMemo(() => (data === undefined ? undefined : readPage(data)), [data]);
  const isMissing = error !== undefined || (data !== undefined && page === undefined);
  return { ...(page !== undefined && { page }), isMissing };
}

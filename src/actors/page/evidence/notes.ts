import type { CaptureRequest } from '../../../capture-request.ts';
import type { Evidence, Noted, NotedDialog } from '../../../evidence.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage, PageSession } from '../isolated-page.ts';
import { Tally } from './tally.ts';

const MOST_DIALOGS = 20;
const MOST_POPUPS = 20;

/** What is noted of a capture while it goes on. Made before anything happens in the page. */
export interface Notes {
  dialog(dialog: NotedDialog): void;
  popup(url: string): void;
  /** What is there at the time of the picture; asks the page only for what the request wants. */
  gather(page: IsolatedPage, deadline: Deadline): Promise<Evidence>;
}

export function takeNotes(_session: PageSession, _request: CaptureRequest): Notes {
  const dialogs = new Tally<NotedDialog>(MOST_DIALOGS);
  const popups = new Tally<string>(MOST_POPUPS);
  return {
    dialog: (dialog) => dialogs.note(dialog),
    popup: (url) => popups.note(url),
    gather: async () => ({ dialogs: dialogs.noted, popups: popups.noted, cookies: NOTHING }),
  };
}

const NOTHING: Noted<never> = { items: [], omitted: 0 };

/*
 * Subjects of a cluster, all below its name:
 *
 *   <name>.place.<api node>.<capture id>  places of single captures, in the stream of places
 *   <name>.work.<api node>.<capture id>   tickets, in the stream of work
 *   <name>.node.<api node>                requests of workers to an api node
 *   <name>.worker.<worker>                requests of api nodes to a worker
 *   <name>.ask.<api node>                 questions of other api nodes
 *   <name>.alive                          announcements of all processes
 *   <name>.inbox.<role>.>                 answers to the requests of processes with a role
 *   <name>.limits                         tells api nodes to read the limits again
 *   <name>.events.by.<writer>             events, in the stream of events
 *   <name>.events.of.<key>                events that are stored once, in the same stream
 *   <name>.logged.>                       the same events with their sequence numbers, as NATS republishes them
 */

export interface Subjects {
  /** The stream of places. */
  readonly places: string;
  /** Returns the subject that matches all places of an api node. */
  placesOf(node: string): string;
  place(node: string, id: number): string;
  /** The stream of tickets. */
  readonly stream: string;
  readonly consumer: string;
  /** Returns the subject that matches all tickets of an api node. */
  workOf(node: string): string;
  work(node: string, id: number): string;
  node(node: string): string;
  worker(worker: string): string;
  /** Where other api nodes ask an api node. */
  ask(node: string): string;
  readonly alive: string;
  readonly limits: string;
  /** Returns what the subjects of answers begin with. */
  inbox(role: string): string;
  /** The stream of events, and the subjects of its messages and of those that NATS republishes. */
  readonly events: string;
  readonly allEvents: string;
  readonly logged: string;
  eventsBy(writer: string): string;
  eventOf(key: string): string;
}

export function subjectsOf(name: string): Subjects {
  return {
    places: `${name}-places`,
    placesOf: (node) => `${name}.place.${node}.*`,
    place: (node, id) => `${name}.place.${node}.${id}`,
    stream: `${name}-work`,
    consumer: 'workers',
    workOf: (node) => `${name}.work.${node}.*`,
    work: (node, id) => `${name}.work.${node}.${id}`,
    node: (node) => `${name}.node.${node}`,
    worker: (worker) => `${name}.worker.${worker}`,
    ask: (node) => `${name}.ask.${node}`,
    alive: `${name}.alive`,
    limits: `${name}.limits`,
    inbox: (role) => `${name}.inbox.${role}`,
    events: `${name}-events`,
    allEvents: `${name}.events.>`,
    logged: `${name}.logged.>`,
    eventsBy: (writer) => `${name}.events.by.${writer}`,
    eventOf: (key) => `${name}.events.of.${key}`,
  };
}

/** Returns the api node and the capture that a ticket's subject names. */
export function ticketOf(subject: string): { readonly node: string; readonly id: number } {
  const [, , node = '', id = ''] = subject.split('.');
  return { node, id: Number(id) };
}

/*
 * Subjects of a cluster, all below its name:
 *
 *   <name>.work.<api node>.<capture id>   tickets, in the stream
 *   <name>.node.<api node>                requests of workers to an api node
 *   <name>.worker.<worker>                requests of api nodes to a worker
 *   <name>.alive                          announcements of all processes
 *   <name>.limits                         tells api nodes to read the limits again
 */

export interface Subjects {
  readonly stream: string;
  readonly consumer: string;
  readonly allWork: string;
  /** Returns the subject that matches all tickets of an api node. */
  workOf(node: string): string;
  work(node: string, id: number): string;
  node(node: string): string;
  worker(worker: string): string;
  readonly alive: string;
  readonly limits: string;
}

export function subjectsOf(name: string): Subjects {
  return {
    stream: `${name}-work`,
    consumer: 'workers',
    allWork: `${name}.work.*.*`,
    workOf: (node) => `${name}.work.${node}.*`,
    work: (node, id) => `${name}.work.${node}.${id}`,
    node: (node) => `${name}.node.${node}`,
    worker: (worker) => `${name}.worker.${worker}`,
    alive: `${name}.alive`,
    limits: `${name}.limits`,
  };
}

/** Returns the api node and the capture that a ticket's subject names. */
export function ticketOf(subject: string): { readonly node: string; readonly id: number } {
  const [, , node = '', id = ''] = subject.split('.');
  return { node, id: Number(id) };
}

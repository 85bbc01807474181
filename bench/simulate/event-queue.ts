/**
 * Events in the order of their times, as a binary heap of plain numbers: a simulation has tens of millions. Events at
 * the same time come in any order.
 */
export class EventQueue {
  /** The event that `next` has taken out: its time, its kind, and what it is about. */
  at = 0;
  kind = 0;
  subject = 0;
  /** Another number that belongs to the event. */
  mark = 0;

  #times = new Float64Array(1024);
  #kinds = new Int32Array(1024);
  #subjects = new Int32Array(1024);
  #marks = new Int32Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(at: number, kind: number, subject = 0, mark = 0): void {
    if (this.#size === this.#times.length) this.#grow();
    let hole = this.#size;
    this.#size += 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (this.#timeOf(parent) <= at) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#set(hole, at, kind, subject, mark);
  }

  /** Takes the next event out. False when there is none. */
  next(): boolean {
    if (this.#size === 0) return false;
    this.at = this.#timeOf(0);
    this.kind = this.#kinds[0] ?? 0;
    this.subject = this.#subjects[0] ?? 0;
    this.mark = this.#marks[0] ?? 0;
    this.#size -= 1;
    const last = this.#size;
    const time = this.#timeOf(last);
    let hole = 0;
    for (let child = 1; child < last; child = 2 * hole + 1) {
      if (child + 1 < last && this.#timeOf(child + 1) < this.#timeOf(child)) child += 1;
      if (time <= this.#timeOf(child)) break;
      this.#move(child, hole);
      hole = child;
    }
    this.#move(last, hole);
    return true;
  }

  #timeOf(index: number): number {
    return this.#times[index] ?? Number.POSITIVE_INFINITY;
  }

  #set(index: number, at: number, kind: number, subject: number, mark: number): void {
    this.#times[index] = at;
    this.#kinds[index] = kind;
    this.#subjects[index] = subject;
    this.#marks[index] = mark;
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#timeOf(from), this.#kinds[from] ?? 0, this.#subjects[from] ?? 0, this.#marks[from] ?? 0);
  }

  #grow(): void {
    this.#times = grown(this.#times, new Float64Array(this.#size * 2));
    this.#kinds = grown(this.#kinds, new Int32Array(this.#size * 2));
    this.#subjects = grown(this.#subjects, new Int32Array(this.#size * 2));
    this.#marks = grown(this.#marks, new Int32Array(this.#size * 2));
  }
}

function grown<T extends Float64Array | Int32Array>(full: T, larger: T): T {
  larger.set(full);
  return larger;
}

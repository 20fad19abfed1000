import type { Micros } from '../../functions/core/event.ts';
import type { HttpAnswer } from '../../functions/http/handler.ts';
import type { Task } from '../../functions/ports.ts';
import { FakeTasks } from '../fakes/tasks.ts';
import type { World } from './world.ts';

/** As tasks are made; no answer by then counts as a failure, although whoever was asked goes on. */
const DISPATCH_DEADLINE: Micros = 60e6;
const BACKOFF = { least: 10e6, most: 600e6, doublings: 6 };

/** Cloud Tasks: a task is dispatched until it is answered 2xx. It may fire twice, late or, though accepted, never. */
export class Queue {
  readonly tasks: FakeTasks;
  readonly #world: World;
  readonly #entry: 'poll' | 'submit';
  /** Told every answer. */
  onAnswer: (task: Task, answer: HttpAnswer) => void = () => undefined;
  onCreate: (task: Task) => void = () => undefined;

  constructor(world: World, entry: 'poll' | 'submit') {
    this.#world = world;
    this.#entry = entry;
    this.tasks = new FakeTasks(() => world.clock.now());
    this.tasks.onCreate = (task) => {
      this.onCreate(task);
      this.#at(task.scheduleTime ?? 0, `fire ${task.name.slice(0, 8)}`, () => this.#fire(task));
    };
  }

  #at(time: Micros, label: string, run: () => void): void {
    const { tasks, clock } = this.#world;
    tasks.add(`${this.#entry} ${label}`, Math.max(time, clock.now()), run);
  }

  #fire(task: Task): void {
    const { clock } = this.#world;
    const call = { port: 'queue', method: 'fire', resource: task.name, entry: this.#entry, instance: -1 } as const;
    const fault = this.#world.fault(call);
    const later = (ms: number, what: string): void => {
      this.#at(clock.now() + ms * 1000, `fire ${task.name.slice(0, 8)} ${what}`, () => {
        this.#world.unusual(`  ! fires ${what}`);
        this.#dispatch(task, 0);
      });
    };
    switch (fault.kind) {
      case 'lost':
        return;
      case 'twice':
        later(fault.ms, 'again');
        break;
      case 'stalled':
        return later(fault.ms, 'late');
      default:
    }
    this.#dispatch(task, 0);
  }

  #dispatch(task: Task, retry: number): void {
    const { clock } = this.#world;
    const label = `${this.#entry} task ${task.name.slice(0, 8)} retry ${retry}`;
    let open = true;
    const failed = (): void => {
      open = false;
      const wait = Math.min(BACKOFF.most, BACKOFF.least * 2 ** Math.min(retry, BACKOFF.doublings));
      this.#at(clock.now() + wait, `retry ${task.name.slice(0, 8)}`, () => this.#dispatch(task, retry + 1));
    };
    const headers = {
      'x-cloudtasks-taskname': task.name,
      'x-cloudtasks-queuename': this.#entry,
      'x-cloudtasks-taskretrycount': String(retry),
    };
    this.#world.chooseInstance().serve(this.#entry, label, { headers, rawBody: Buffer.from(task.body) }, (answer) => {
      this.onAnswer(task, answer);
      if (!open) return;
      if (answer.status >= 300) return failed();
      open = false;
      this.tasks.done(task.name);
    });
    this.#at(clock.now() + DISPATCH_DEADLINE, `deadline ${task.name.slice(0, 8)}`, () => {
      if (open) failed();
    });
  }
}

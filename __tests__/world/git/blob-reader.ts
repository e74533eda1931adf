import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createGitEnvironment } from './git.ts';

/** Bytes of the largest blob that is read as a whole. */
const LARGEST = 1_048_576;

/** What git says of an object: its bytes are absent where only its size was asked for. */
interface ObjectAnswer {
  readonly size: number;
  readonly bytes: Buffer | null;
}

interface Question {
  readonly wantsBytes: boolean;
  resolve(answer: ObjectAnswer | null): void;
  reject(error: Error): void;
}

/**
 * Reads the blobs of a repository through one process of git: to start one for each of thousands of files takes
 * longer than to send the files.
 */
export class BlobReader {
  readonly #directory: string;
  #process: ChildProcessWithoutNullStreams | undefined;
  #questions: Question[] = [];
  #received: Buffer = Buffer.alloc(0);

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The bytes of a blob; null where there is none, or where it is too large to be read as a whole. */
  async read(sha: string): Promise<Buffer | null> {
    const info = await this.#ask('info', sha);
    if (info === null || info.size > LARGEST) return null;
    return (await this.#ask('contents', sha))?.bytes ?? null;
  }

  /** Ends the process; the next blob starts another one. */
  close(): void {
    this.#process?.stdin.end();
    this.#process = undefined;
  }

  #ask(command: 'info' | 'contents', sha: string): Promise<ObjectAnswer | null> {
    this.#process ??= this.#start();
    const { stdin, stdout } = this.#process;
    return new Promise((resolve, reject) => {
      this.#questions.push({ wantsBytes: command === 'contents', resolve, reject });
      (stdout as Socket).ref();
      stdin.write(`${command} ${sha}\n`);
    });
  }

  /** An idle process keeps no process of tests alive. */
  #start(): ChildProcessWithoutNullStreams {
    const child = spawn('git', ['cat-file', '--batch-command'], {
      env: createGitEnvironment(this.#directory),
    });
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as Socket).unref();
    child.stdin.on('error', () => {});
    child.stderr.resume();
    child.stdout.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#answer();
      if (this.#questions.length === 0) (child.stdout as Socket).unref();
    });
    child.once('error', (error) => this.#fail(child, error));
    child.once('exit', () => this.#fail(child, new Error('the process that reads blobs ended')));
    return child;
  }

  #answer(): void {
    for (let question = this.#questions[0]; question !== undefined; question = this.#questions[0]) {
      const end = this.#received.indexOf('\n');
      if (end === -1) return;
      const [, type, digits] = this.#received.toString('latin1', 0, end).split(' ');
      const size = Number(digits);
      const length = question.wantsBytes && type === 'blob' ? size + 1 : 0;
      if (this.#received.length < end + 1 + length) return;
      const bytes = length === 0 ? null : Buffer.from(this.#received.subarray(end + 1, end + length));
      this.#received = this.#received.subarray(end + 1 + length);
      this.#questions.shift();
      question.resolve(type === 'blob' ? { size, bytes } : null);
    }
  }

  #fail(child: ChildProcessWithoutNullStreams, error: Error): void {
    if (this.#process !== undefined && this.#process !== child) return;
    this.#process = undefined;
    this.#received = Buffer.alloc(0);
    for (const { reject } of this.#questions.splice(0)) reject(error);
  }
}

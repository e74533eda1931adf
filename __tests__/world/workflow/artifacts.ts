import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The artifacts of runs: one folder for each run, and in it one for each artifact. */
export class ArtifactStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Saves a file, or the content of a folder. A name can be used once per run. */
  async save(run: number, name: string, path: string): Promise<void> {
    const place = join(this.#folder, String(run), name);
    const isFolder = (await stat(path)).isDirectory();
    await mkdir(join(place, '..'), { recursive: true });
    await mkdir(place);
    await cp(path, isFolder ? place : join(place, basename(path)), { recursive: true });
  }

  /** The names of a run's artifacts. */
  async listNames(run: number): Promise<string[]> {
    const folder = join(this.#folder, String(run));
    return existsSync(folder) ? readdir(folder) : [];
  }

  async download(run: number, name: string, into: string): Promise<void> {
    await cp(join(this.#folder, String(run), name), into, { recursive: true });
  }
}

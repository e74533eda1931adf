import { createWorldClient } from '../client.ts';
import type { ActionContext } from './fake-actions.ts';

/**
 * Plays `softprops/action-gh-release` without files: it sends the requests that version 3.0.0 sent to the local
 * GitHub, except that it writes the notes itself. A release that exists is updated, and keeps its assets.
 */
export async function makeRelease({ inputs, event, token, world }: ActionContext): Promise<void> {
  const tag = /^refs\/tags\/(.+)$/.exec(event.ref)?.[1];
  if (tag === undefined) throw new Error('GitHub Releases requires a tag');
  const client = createWorldClient(world, token);
  const call = async (method: string, path: string, body: object | null = null) => {
    const answer = await client.send(`${method} /repos/${event.repository.fullName}/releases${path}`, body);
    if (answer.status >= 400 && answer.status !== 404) throw new Error(`${method}: HTTP ${answer.status}`);
    return answer;
  };
  try {
    const notes = inputs.generate_release_notes === 'true' ? `**Full Changelog** of ${tag}` : '';
    const wanted = { tag_name: tag, name: tag, body: notes };
    const existing = await call('GET', `/tags/${tag}`);
    if (existing.status === 200) {
      await call('PATCH', `/${existing.json.id}`, wanted);
      return;
    }
    const created = await call('POST', '', { ...wanted, draft: true });
    if (created.status !== 201) throw new Error('The token may not create a release.');
    await call('GET', '?per_page=100');
    await call('PATCH', `/${created.json.id}`, { draft: false });
  } finally {
    await client.close();
  }
}

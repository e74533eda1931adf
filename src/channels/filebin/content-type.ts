import { getTypeDisplay } from '../../rules/browser-display.ts';
import type { Placement } from '../channel.ts';

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = /^\s*(?:text\/html|application\/pdf)\b/i;

/** Whether a browser shows the file. @param contentType what the host found in its bytes; empty where it does not say */
export function describeShown(contentType = ''): Required<Pick<Placement, 'claim' | 'notes'>> {
  if (contentType.trim() === '') return { claim: 'is available', notes: [] };
  if (getTypeDisplay(contentType) !== 'none' && !ATTACHED.test(contentType))
    return { claim: 'opens', notes: [] };
  return {
    claim: 'downloads',
    notes: ['this kind of file is downloaded there, not shown on the screen'],
  };
}

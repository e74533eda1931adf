import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { ToolName } from '../request/inputs.ts';

interface ToolDefinition {
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
}

const HOW_TO_ANSWER =
  'Give your human `url` if it is not empty, else `reason` and `hint`; never a local path, and never "it should work".';

/** The tools of the server; the rows of the inputs say which arguments each takes. */
export const TOOLS: Readonly<Record<ToolName, ToolDefinition>> = {
  deliver: {
    title: 'Deliver a file, a folder or text',
    description: `Publishes it, fetches it back from its public address, proves the bytes, and only then hands over the https address. ${HOW_TO_ANSWER} Do not use it for anything secret or private, because what is delivered becomes public; to try a page use \`check\`, and for a link that exists already use \`verify\`.`,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  verify: {
    title: 'Verify a link',
    description: `Fetches a link that your environment gave you and proves that it shows your content: by a text of it (\`marker\`), or byte by byte (\`file\` or \`content\`). ${HOW_TO_ANSWER} Do not use it for what \`deliver\` published, which is proven already, or for local links.`,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  check: {
    title: 'Check a file without publishing it',
    description:
      'Runs the checks that `deliver` makes on the file itself: secrets, size, name, marker, and whether a page loads anything from elsewhere. No host is asked and nothing is published. Do not use it to find out whether something is published, and do not take its result for a delivery: it gives no address.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  withdraw: {
    title: 'Withdraw what was delivered',
    description:
      'Removes what `deliver` published under the same name or path, and proves that its address no longer serves it. What others put there stays. Do not use it before a new delivery to the same path, which replaces the old one by itself.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  },
  audit: {
    title: 'Prove again what was delivered',
    description:
      'Finds everything that `deliver` published in the repository, or below `path`, fetches it again and compares: as delivered, changed by somebody since, withdrawn, or lost. Nothing is written. Do not use it for what you have just delivered, which is proven already, or for a link of your environment: that is `verify`.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
};

import type { CDPSession, Protocol } from 'puppeteer-core';
import type { ContentBox, FrameLook } from './dom-types.ts';
import { PageLook } from './page-look.ts';

/** Documents with more nodes are not searched: the answer would be too large. */
const MOST_NODES = 20_000;

/** Closed shadow roots of one page that are looked at. */
const MOST_ROOTS = 20;

/** What is inside of closed shadow roots, which no script can reach. */
export async function findClosedRoots({ session }: { readonly session: CDPSession }): Promise<ContentBox[]> {
  const { nodes: count } = await session.send('Memory.getDOMCounters');
  if (count > MOST_NODES) return [];
  const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true });
  const roots = listClosedRoots(root).slice(0, MOST_ROOTS);
  const found = await Promise.all(roots.map((id) => lookInside(session, id).catch(() => [])));
  return found.flat();
}

function listClosedRoots(node: Protocol.DOM.Node): number[] {
  const closed = (node.shadowRoots ?? []).filter(({ shadowRootType }) => shadowRootType === 'closed');
  const inner = [...(node.shadowRoots ?? []), ...(node.children ?? [])].flatMap(listClosedRoots);
  return [...closed.map(({ backendNodeId }) => backendNodeId), ...inner];
}

async function lookInside(session: CDPSession, backendNodeId: number): Promise<ContentBox[]> {
  const { object } = await session.send('DOM.resolveNode', { backendNodeId });
  if (object.objectId === undefined) return [];
  const { result } = await session.send('Runtime.callFunctionOn', {
    objectId: object.objectId,
    functionDeclaration: `function () { return new (${PageLook.toString()})().run(this); }`,
    returnByValue: true,
  });
  return [...((result.value as FrameLook | undefined)?.boxes ?? [])];
}

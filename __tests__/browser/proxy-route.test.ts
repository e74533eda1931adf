import { describe, expect, test } from '@jest/globals';
import { findUpstreamProxy } from '../../src/browser/proxy-route.ts';

const PROXY = 'http://proxy.octo.dev:3128';
const route = (url: string, environment: Record<string, string>): string | undefined =>
  findUpstreamProxy(new URL(url), environment)?.href;

describe('findUpstreamProxy', () => {
  test.each([
    [{ https_proxy: PROXY }, `${PROXY}/`],
    [{ HTTPS_PROXY: PROXY }, `${PROXY}/`],
    [{ http_proxy: PROXY }, `${PROXY}/`],
    [{ https_proxy: 'proxy.octo.dev:3128' }, `${PROXY}/`],
    [{ https_proxy: '' }, undefined],
    [{}, undefined],
  ])('sends https through the proxy of %j', (environment, expected) => {
    expect(route('https://octo.github.io/', environment as Record<string, string>)).toBe(expected);
  });

  test('sends plain http through http_proxy only', () => {
    expect(route('http://octo.github.io/', { https_proxy: PROXY })).toBeUndefined();
    expect(route('http://octo.github.io/', { http_proxy: PROXY })).toBe(`${PROXY}/`);
  });

  test.each([
    ['*', false],
    ['github.io', false],
    ['.github.io', false],
    ['*.github.io', false],
    ['octo.github.io:443', false],
    ['other.dev, OCTO.github.io', false],
    ['octo.github.io:8443', true],
    ['hub.io', true],
    ['*.octo.github.io', true],
    ['other.dev', true],
  ])('no_proxy of %s: through the proxy is %s', (no_proxy, isProxied) => {
    expect(route('https://octo.github.io/', { https_proxy: PROXY, no_proxy }) !== undefined).toBe(isProxied);
  });
});

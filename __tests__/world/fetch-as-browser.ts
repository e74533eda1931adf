export interface BrowserResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

const MAX_REQUESTS = 10;

/**
 * Fetches an address like a browser without credentials: follows redirects, keeps cookies, and continues once
 * after a page that sets a cookie, such as the warning page of the file-bin.
 *
 * @param get sends one request
 * @throws {Error} after ten requests.
 */
export async function fetchAsBrowser(
  start: string,
  get: (url: URL, headers: Record<string, string>) => Promise<BrowserResponse>,
): Promise<BrowserResponse> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let continued = false;
  for (let requests = 0; requests < MAX_REQUESTS; requests += 1) {
    const cookie = cookies.get(url.host);
    const response = await get(url, cookie === undefined ? {} : { cookie });
    const [given] = [response.headers['set-cookie'] ?? []].flat();
    if (given !== undefined) cookies.set(url.host, given.replace(/;.*/, ''));
    if (response.status >= 300 && response.status < 400) {
      url = new URL(String(response.headers.location), url);
    } else if (given !== undefined && !continued) {
      continued = true;
    } else {
      return response;
    }
  }
  throw new Error(`${start} redirects forever.`);
}

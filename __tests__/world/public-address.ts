/** Public addresses of the channels in any text. */
export const PUBLIC_ADDRESS =
  /https:\/\/[^\s"|]*(?:github\.io|filebin\.net\/|raw\.githubusercontent\.com|\/releases\/download\/)/;

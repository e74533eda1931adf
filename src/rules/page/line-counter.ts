/** Returns the line of each offset, from `firstLine`; the offsets must be in ascending order. */
export function createLineCounter(text: string, firstLine: number): (offset: number) => number {
  let line = firstLine;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

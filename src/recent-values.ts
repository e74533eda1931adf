/** Returns the value of a key. */
type GetValue<Value> = (key: string) => Value;

/** Keeps the values that were used last, so that they are computed once. @param limit how many are kept */
export function keepRecent<Value>(limit: number, compute: GetValue<Value>): GetValue<Value> {
  const recent = new Map<string, Value>();
  return (key) => {
    const value = recent.has(key) ? (recent.get(key) as Value) : compute(key);
    // The order of a map is the order of its insertions: the first one was used longest ago.
    recent.delete(key);
    recent.set(key, value);
    const [oldest] = recent.keys();
    if (recent.size > limit && oldest !== undefined) recent.delete(oldest);
    return value;
  };
}

/**
 * Jest runs tests in a realm of their own, so that an error made by Node itself (a socket's, a file's,
 * an abort's) is no `instanceof Error` there, although it is one in production. Importing this file
 * makes them instances again; classes that extend Error are checked as usual.
 *
 * @see https://github.com/jestjs/jest/issues/2549
 */
const ordinary = Function.prototype[Symbol.hasInstance];
const { isError } = Error as unknown as { isError(value: unknown): boolean };

Object.defineProperty(Error, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    return this === Error ? isError(value) : ordinary.call(this, value);
  },
});

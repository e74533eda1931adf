export { serveMcp as startServer } from './serve.ts';

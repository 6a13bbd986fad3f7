// Package proviso reads turns of the Proviso service: it follows a turn through cut connections, puts streamed text
// together, reads error details, and uploads documents. Everything else is a plain call of the generated stubs.
package proviso

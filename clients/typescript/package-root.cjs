// CommonJS, because both builds import it: only here is the folder known in the same way to the two.
exports.packageRoot = __dirname;
